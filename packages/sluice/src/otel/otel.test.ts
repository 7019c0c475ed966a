import { describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { otelObserver, type OtelAttributes } from './index.ts'

function recording() {
  const counted: [number, OtelAttributes | undefined][] = []
  const recorded: number[] = []
  const span: OtelAttributes = {}
  const names: string[] = []
  const meter = {
    createCounter: (name: string) => {
      names.push(name)
      return {
        add: (value: number, attributes?: OtelAttributes) => counted.push([value, attributes]),
      }
    },
    createHistogram: (name: string) => {
      names.push(name)
      return { record: (value: number) => recorded.push(value) }
    },
  }
  const trace = {
    getActiveSpan: () => ({ setAttributes: (a: OtelAttributes) => Object.assign(span, a) }),
  }
  return { meter, trace, counted, recorded, span, names }
}

describe('the OpenTelemetry observer', () => {
  const { meter, trace, counted, recorded, span, names } = recording()
  const limiter = createLimiter({
    limit: '1/min',
    store: memoryStore({ clock: fakeClock(1_800_000_000_000) }),
    onDecision: otelObserver({ meter, trace, policy: 'api' }),
    identify: () => 'id-1',
  })
  limiter.check('ann')
  limiter.check('ann')

  it('counts decisions by labels that come from the policy alone', () => {
    expect(names).toEqual(['ratelimit.decisions', 'ratelimit.decision.duration'])
    const labels = {
      'ratelimit.policy': 'api',
      'ratelimit.rule': 'default',
      'ratelimit.degraded': false,
    }
    expect(counted).toEqual([
      [1, { ...labels, 'ratelimit.result': 'allowed' }],
      [1, { ...labels, 'ratelimit.result': 'refused' }],
    ])
    expect(recorded.every((seconds) => seconds >= 0 && seconds < 1)).toBe(true)
    expect(JSON.stringify(counted)).not.toContain('ann')
  })

  it('notes the numbers and the id of a refusal on the active span', () => {
    expect(span).toMatchObject({
      'ratelimit.result': 'refused',
      'ratelimit.remaining': 0,
      'ratelimit.retry_after_ms': 60_000,
      'ratelimit.decision_id': 'id-1',
    })
  })

  it('works without a meter, and without a span', () => {
    const onDecision = otelObserver({ trace: { getActiveSpan: () => undefined } })
    const other = createLimiter({ limit: '1/min', onDecision })
    expect(other.check('ann').allowed).toBe(true)
  })
})
