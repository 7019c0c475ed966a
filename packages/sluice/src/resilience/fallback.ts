// Who answers when the store does not.
import type { Decision } from '../decision/decision.ts'
import { StoodIn } from '../decision/stood-in.ts'
import type { ErrorCode } from '../errors.ts'
import type { Limiter, SyncLimiter } from '../limiter/limiter.ts'
import type { Attributes } from '../policy/policy.ts'
import type { MaybePromise } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'

/** Why and for how long the store is not asked. */
export interface Failure {
  readonly cause: ErrorCode
  /** Until the store is asked again; at least 1. */
  readonly retryAfter: Millis
}

/** Answers in the place of a limiter. Its decisions are `degraded` and carry the cause. */
export interface Fallback {
  check(
    attributes: Attributes | string,
    cost: number | undefined,
    failure: Failure,
  ): MaybePromise<Decision>
  peek(
    attributes: Attributes | string,
    cost: number | undefined,
    failure: Failure,
  ): MaybePromise<Decision>
  refund(
    attributes: Attributes | string,
    cost: number | undefined,
    takenAt: Millis | undefined,
  ): MaybePromise<void>
  reset(attributes: Attributes | string): MaybePromise<void>
  close(): MaybePromise<void>
}

/** Any limiter as a fallback: its answers are marked. */
export function fallbackOf(limiter: Limiter | SyncLimiter): Fallback {
  const marked = (decision: MaybePromise<Decision>, { cause }: Failure): MaybePromise<Decision> =>
    'then' in decision
      ? decision.then((decision) => new StoodIn(decision, cause, isLocal))
      : new StoodIn(decision, cause, isLocal)
  return {
    check: (attributes, cost, failure) => marked(limiter.check(attributes, cost), failure),
    peek: (attributes, cost, failure) => marked(limiter.peek(attributes, cost), failure),
    refund: (attributes, cost, takenAt) => limiter.refund(attributes, cost, takenAt),
    reset: (attributes) => limiter.reset(attributes),
    close: () => limiter.close(),
  }
}

const isLocal = (): 'local' => 'local'
