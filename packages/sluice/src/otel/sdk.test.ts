// The real OpenTelemetry API and SDK: the structural types still fit, and what is noted arrives.
import { context, metrics, trace } from '@opentelemetry/api'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  StackContextManager,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { afterAll, describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { otelObserver } from './index.ts'

/** Hands out what was measured when it is asked. */
class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

describe('the OpenTelemetry observer with the real SDK', () => {
  const reader = new Reader()
  const spans = new InMemorySpanExporter()
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
  context.setGlobalContextManager(new StackContextManager().enable())
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] }),
  )
  afterAll(() => {
    metrics.disable()
    trace.disable()
    context.disable()
  })

  const limiter = createLimiter({
    limit: '1/h',
    onDecision: otelObserver({ meter: metrics.getMeter('sluice'), trace, policy: 'api' }),
    identify: () => 'id-1',
  })
  const request = (name: string): void =>
    trace.getTracer('test').startActiveSpan(name, (span) => {
      limiter.check('ann')
      span.end()
    })
  request('first')
  request('second')

  it('counts decisions and records how long they took', async () => {
    const { resourceMetrics, errors } = await reader.collect()
    expect(errors).toEqual([])
    const measured = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)
    const points = (name: string) =>
      measured
        .find(({ descriptor }) => descriptor.name === name)!
        .dataPoints.map(({ attributes, value }) => ({ ...attributes, value }))
    const labels = {
      'ratelimit.policy': 'api',
      'ratelimit.rule': 'default',
      'ratelimit.degraded': false,
    }
    expect(points('ratelimit.decisions')).toEqual([
      { ...labels, 'ratelimit.result': 'allowed', value: 1 },
      { ...labels, 'ratelimit.result': 'refused', value: 1 },
    ])
    expect(points('ratelimit.decision.duration')).toMatchObject([{ value: { count: 2 } }])
  })

  it('notes each decision on the span of its request', () => {
    const finished = spans.getFinishedSpans().map(({ name, attributes }) => ({ name, attributes }))
    expect(finished).toMatchObject([
      { name: 'first', attributes: { 'ratelimit.result': 'allowed', 'ratelimit.remaining': 0 } },
      {
        name: 'second',
        attributes: { 'ratelimit.result': 'refused', 'ratelimit.decision_id': 'id-1' },
      },
    ])
    expect(finished[0]!.attributes).not.toHaveProperty('ratelimit.decision_id')
  })
})
