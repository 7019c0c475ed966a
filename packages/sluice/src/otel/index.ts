// Decisions as OpenTelemetry metrics and span attributes, through the `@opentelemetry/api` that the application has.
import type { OnDecision } from '../decision/decide.ts'
import type { Decision } from '../decision/decision.ts'

/**
 * Attributes of a measurement or a span.
 *
 * @example
 * ```ts
 * const attributes: OtelAttributes = { 'ratelimit.policy': 'api', 'ratelimit.degraded': false }
 * ```
 */
export type OtelAttributes = Record<string, string | number | boolean>

/**
 * What is used of a `Meter`.
 *
 * @example
 * ```ts
 * const observe = (meter: OtelMeter) => otelObserver({ meter, policy: 'api' })
 * ```
 */
export interface OtelMeter {
  createCounter(
    name: string,
    options?: { readonly description?: string; readonly unit?: string },
  ): { add(value: number, attributes?: OtelAttributes): void }
  createHistogram(
    name: string,
    options?: { readonly description?: string; readonly unit?: string },
  ): { record(value: number, attributes?: OtelAttributes): void }
}

/**
 * What is used of the `trace` API: the span of the present request, if there is one.
 *
 * @example
 * ```ts
 * const observe = (trace: OtelTrace) => otelObserver({ trace })
 * ```
 */
export interface OtelTrace {
  getActiveSpan(): { setAttributes(attributes: OtelAttributes): unknown } | undefined
}

/**
 * What measurements go to.
 *
 * @example
 * ```ts
 * createLimiter({ policy, onDecision: otelObserver({ meter, policy: policy.name }) })
 * ```
 */
export interface OtelOptions {
  readonly meter?: OtelMeter
  readonly trace?: OtelTrace
  /** The name of the policy, for limiters that share a meter. */
  readonly policy?: string
}

/**
 * Makes an `onDecision` that counts decisions and notes them on the active span. Labels of metrics come from the policy
 * alone, never from requests: a key in a label would be a series for each caller.
 *
 * @example
 * ```ts
 * const limiter = createLimiter({ limit: '100/min', onDecision: otelObserver({ meter }) })
 * ```
 */
export function otelObserver({ meter, trace, policy }: OtelOptions): OnDecision {
  const decisions = meter?.createCounter('ratelimit.decisions', {
    description: 'Decisions by the binding rule.',
    unit: '{decision}',
  })
  const duration = meter?.createHistogram('ratelimit.decision.duration', {
    description: 'How long decisions took, the store included.',
    unit: 's',
  })
  const named: OtelAttributes = policy === undefined ? {} : { 'ratelimit.policy': policy }
  return (decision, _, elapsed) => {
    const attributes = {
      ...named,
      'ratelimit.rule': decision.rule ?? '',
      'ratelimit.result': resultOf(decision),
      'ratelimit.degraded': decision.degraded,
    }
    decisions?.add(1, attributes)
    if (!Number.isNaN(elapsed)) duration?.record(elapsed / 1000, named)
    trace?.getActiveSpan()?.setAttributes({ ...attributes, ...numbersOf(decision) })
  }
}

function resultOf({ allowed, reason }: Decision): string {
  return allowed ? 'allowed' : reason === 'over-limit' ? 'refused' : reason
}

/** What a span may hold and a metric may not: numbers, and the id of the refusal. */
function numbersOf({ id, remaining, retryAfter, allowed }: Decision): OtelAttributes {
  return {
    ...(Number.isFinite(remaining) && { 'ratelimit.remaining': remaining }),
    ...(!allowed && retryAfter !== null && { 'ratelimit.retry_after_ms': retryAfter }),
    ...(id !== undefined && { 'ratelimit.decision_id': id }),
  }
}
