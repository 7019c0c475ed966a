// Wraps a limiter so that what an operator has blocked is refused before anything is counted.
import type { Attributes, Clock, Decision, MaybePromise, Millis } from 'sluice'
import type { KnownBlocks } from '../controls/live-controls.ts'
import type { ServiceLimiter } from './limiters.ts'

/** The same limiter with blocks in front. Without a block it costs one look at a field. */
export function blocking(
  limiter: ServiceLimiter,
  policy: string,
  known: KnownBlocks,
  clock: Clock,
  isSync: boolean,
): ServiceLimiter {
  const blocked = (attributes: Attributes | string): MaybePromise<Decision> | undefined => {
    const decision = blockedDecision(known, policy, attributes, clock())
    return decision === undefined || isSync ? decision : Promise.resolve(decision)
  }
  const wrapped = {
    check(attributes: Attributes | string, cost?: number): MaybePromise<Decision> {
      const refusal = known.blocks === null ? undefined : blocked(attributes)
      return refusal ?? limiter.check(attributes, cost)
    },
    peek(attributes: Attributes | string, cost?: number): MaybePromise<Decision> {
      const refusal = known.blocks === null ? undefined : blocked(attributes)
      return refusal ?? limiter.peek(attributes, cost)
    },
    refund: (attributes: Attributes | string, cost?: number, takenAt?: Millis) =>
      limiter.refund(attributes, cost, takenAt),
    reset: (attributes: Attributes | string) => limiter.reset(attributes),
    close: () => limiter.close(),
  }
  return wrapped as ServiceLimiter
}

/** The refusal of a blocked request; undefined when it is not blocked. */
export function blockedDecision(
  { blocks }: KnownBlocks,
  policy: string,
  attributes: Attributes | string,
  now: Millis,
): Decision | undefined {
  const block = blocks?.find(policy, attributes, now)
  if (block === undefined) return undefined
  const left = block.until - now
  return {
    allowed: false,
    reason: 'blocked',
    rule: null,
    limit: null,
    remaining: 0,
    retryAfter: left,
    resetAfter: left,
    delay: 0,
    at: 0,
    degraded: false,
    outcomes: [],
    skipped: [],
  }
}
