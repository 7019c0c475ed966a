// Builds decisions. Like the verdicts under them, they work out their numbers when asked.
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Millis } from '../time/clock.ts'
import type { Decision, Outcome, Reason, Skipped, Source } from './decision.ts'

/** A rule that spoke, with the limit and cost it spoke about. */
export interface Spoken {
  readonly rule: { readonly name: string; readonly hidden?: boolean }
  readonly limit: Limit
  readonly cost: number
  readonly shadow: boolean
}

/** A decision over verdicts that a store gave, in the order of the rules that spoke. */
export class Decided implements Decision {
  readonly allowed: boolean
  readonly skipped: readonly Skipped[]
  protected readonly spoken: readonly Spoken[]
  protected readonly verdicts: readonly Verdict[]

  constructor(
    spoken: readonly Spoken[],
    verdicts: readonly Verdict[],
    skipped: readonly Skipped[],
  ) {
    this.allowed =
      verdicts.length === 1
        ? verdicts[0]!.allowed || spoken[0]!.shadow
        : allAllowed(spoken, verdicts)
    this.spoken = spoken
    this.verdicts = verdicts
    this.skipped = skipped
  }

  get reason(): Reason {
    if (!this.allowed) return 'over-limit'
    return this.#binding < 0 ? 'no-rule' : 'within-limit'
  }

  get degraded(): boolean {
    return false
  }

  get rule(): string | null {
    return this.spoken[this.#binding]?.rule.name ?? null
  }

  get limit(): Limit | null {
    return this.spoken[this.#binding]?.limit ?? null
  }

  get remaining(): number {
    return this.verdicts[this.#binding]?.remaining ?? Infinity
  }

  get retryAfter(): Millis | null {
    return this.allowed ? 0 : this.verdicts[this.#binding]!.retryAfter
  }

  get resetAfter(): Millis {
    return this.verdicts[this.#binding]?.resetAfter ?? 0
  }

  get delay(): Millis {
    if (!this.allowed) return 0
    return this.verdicts.reduce(
      (most, { delay }, i) => (this.spoken[i]!.shadow ? most : Math.max(most, delay)),
      0,
    )
  }

  get at(): Millis {
    return this.verdicts[0]?.at ?? 0
  }

  get outcomes(): readonly Outcome[] {
    return this.spoken.map(({ rule, limit, cost, shadow }, i) => {
      const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at } =
        this.verdicts[i]!
      const source: Source = 'store'
      const verdict = { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at }
      return {
        rule: rule.name,
        limit,
        cost,
        source,
        shadow,
        hidden: rule.hidden ?? false,
        ...verdict,
      }
    })
  }

  /** The decision as plain data. */
  toJSON(): Decision {
    const {
      allowed,
      reason,
      rule,
      limit,
      remaining,
      retryAfter,
      resetAfter,
      delay,
      at,
      degraded,
      outcomes,
      skipped,
    } = this
    return {
      allowed,
      reason,
      rule,
      limit,
      remaining,
      retryAfter,
      resetAfter,
      delay,
      at,
      degraded,
      outcomes,
      skipped,
    }
  }

  /** Index of the binding rule, -1 when none spoke. */
  get #binding(): number {
    let binding = -1
    for (let i = 0; i < this.spoken.length; i++) {
      if (this.spoken[i]!.shadow) continue
      if (binding < 0 || this.#isTighter(i, binding)) binding = i
    }
    return binding
  }

  #isTighter(i: number, than: number): boolean {
    const a = this.verdicts[i]!
    const b = this.verdicts[than]!
    if (a.allowed !== b.allowed) return b.allowed
    return a.allowed
      ? a.remaining < b.remaining
      : (a.retryAfter ?? Infinity) > (b.retryAfter ?? Infinity)
  }
}

// Node's console shows the decision as the data it is.
Object.defineProperty(Decided.prototype, Symbol.for('nodejs.util.inspect.custom'), {
  value: Decided.prototype.toJSON,
})

function allAllowed(spoken: readonly Spoken[], verdicts: readonly Verdict[]): boolean {
  return verdicts.every((verdict, i) => verdict.allowed || spoken[i]!.shadow)
}
