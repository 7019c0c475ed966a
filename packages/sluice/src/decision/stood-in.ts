// A decision made by a stand-in: it says so, and why.
import type { ErrorCode } from '../errors.ts'
import type { Limit } from '../limit/limit.ts'
import type { OnStoreFailure } from '../policy/policy.ts'
import type { Millis } from '../time/clock.ts'
import type { Decision, Outcome, Reason, Skipped, Source } from './decision.ts'

/** What a rule does when the store cannot answer, by the rule's name. */
export type ModeOf = (rule: string) => OnStoreFailure

/** The same answer, marked as the stand-in's. */
export class StoodIn implements Decision {
  readonly allowed: boolean
  readonly cause: ErrorCode
  private readonly inner: Decision
  private readonly modeOf: ModeOf

  constructor(inner: Decision, cause: ErrorCode, modeOf: ModeOf) {
    this.allowed = inner.allowed
    this.inner = inner
    this.cause = cause
    this.modeOf = modeOf
  }

  get degraded(): boolean {
    return true
  }

  get reason(): Reason {
    return this.unavailable === undefined ? this.inner.reason : 'unavailable'
  }

  get rule(): string | null {
    return (this.unavailable ?? this.inner).rule
  }

  get limit(): Limit | null {
    return (this.unavailable ?? this.inner).limit
  }

  get remaining(): number {
    return (this.unavailable ?? this.inner).remaining
  }

  get retryAfter(): Millis | null {
    return (this.unavailable ?? this.inner).retryAfter
  }

  get resetAfter(): Millis {
    return (this.unavailable ?? this.inner).resetAfter
  }

  get delay(): Millis {
    return this.inner.delay
  }

  get at(): Millis {
    return this.inner.at
  }

  get outcomes(): readonly Outcome[] {
    return this.inner.outcomes.map((outcome) => ({
      ...outcome,
      source: sourceOf(this.modeOf(outcome.rule)),
    }))
  }

  get skipped(): readonly Skipped[] {
    return this.inner.skipped
  }

  /** The decision as plain data. */
  toJSON(): Decision {
    const { allowed, reason, rule, limit, remaining, retryAfter, resetAfter, delay, at } = this
    const { degraded, cause, outcomes, skipped } = this
    const numbers = { remaining, retryAfter, resetAfter, delay, at }
    return { allowed, reason, rule, limit, ...numbers, degraded, cause, outcomes, skipped }
  }

  /** The rule that refuses because nobody can answer for it. */
  private get unavailable(): Outcome | undefined {
    if (this.allowed) return undefined
    return this.inner.outcomes.find(({ rule, shadow }) => !shadow && this.modeOf(rule) === 'closed')
  }
}

// Node's console shows the decision as the data it is.
Object.defineProperty(StoodIn.prototype, Symbol.for('nodejs.util.inspect.custom'), {
  value(this: StoodIn) {
    return this.toJSON()
  },
})

/** A refusal because nobody could answer is the stand-in's. */
function sourceOf(mode: OnStoreFailure): Source {
  return mode === 'open' ? 'open' : 'fallback'
}
