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

/** What every decision derives from the rules that spoke, their verdicts and the binding one among them. */
abstract class Deciding implements Decision {
  abstract readonly allowed: boolean
  abstract readonly skipped: readonly Skipped[]
  /** The rules that spoke and, in the same order, their verdicts. */
  protected abstract get spoken(): readonly Spoken[]
  protected abstract get verdicts(): readonly Verdict[]
  /** The binding rule's place among them, -1 when none spoke. */
  protected abstract get binding(): number

  get reason(): Reason {
    if (!this.allowed) return 'over-limit'
    return this.binding < 0 ? 'no-rule' : 'within-limit'
  }

  get degraded(): boolean {
    return false
  }

  get rule(): string | null {
    return this.spoken[this.binding]?.rule.name ?? null
  }

  get limit(): Limit | null {
    return this.spoken[this.binding]?.limit ?? null
  }

  get remaining(): number {
    return this.verdicts[this.binding]?.remaining ?? Infinity
  }

  get retryAfter(): Millis | null {
    return this.allowed ? 0 : this.verdicts[this.binding]!.retryAfter
  }

  get resetAfter(): Millis {
    return this.verdicts[this.binding]?.resetAfter ?? 0
  }

  get delay(): Millis {
    if (!this.allowed) return 0
    const enforced = this.verdicts.filter((_, i) => !this.spoken[i]!.shadow)
    return enforced.reduce((longest, { delay }) => Math.max(longest, delay), 0)
  }

  get at(): Millis {
    return this.verdicts[0]?.at ?? 0
  }

  get outcomes(): readonly Outcome[] {
    return this.spoken.map((spoken, i) => outcomeOf(spoken, this.verdicts[i]!))
  }

  /** The decision as plain data. */
  toJSON(): Decision {
    const { allowed, reason, rule, limit, remaining, retryAfter, resetAfter, delay, at } = this
    const { degraded, outcomes, skipped } = this
    const numbers = { remaining, retryAfter, resetAfter, delay, at }
    return { allowed, reason, rule, limit, ...numbers, degraded, outcomes, skipped }
  }
}

// Node's console shows the decision as the data it is.
Object.defineProperty(Deciding.prototype, Symbol.for('nodejs.util.inspect.custom'), {
  value(this: Deciding) {
    return this.toJSON()
  },
})

function outcomeOf({ rule, limit, cost, shadow }: Spoken, verdict: Verdict): Outcome {
  const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at } = verdict
  const numbers = { remaining, retryAfter, resetAfter, availableAfter, delay, at }
  const source: Source = 'store'
  return {
    rule: rule.name,
    limit,
    cost,
    allowed,
    ...numbers,
    source,
    shadow,
    hidden: rule.hidden ?? false,
  }
}

const NOTHING: readonly never[] = []

/** A decision by the one rule there is. Made for each request on the fastest path, so it is as small as can be. */
export class DecidedByOne extends Deciding {
  readonly allowed: boolean
  private readonly one: Spoken
  private readonly verdict: Verdict

  constructor(spoken: Spoken, verdict: Verdict) {
    super()
    this.allowed = verdict.allowed
    this.one = spoken
    this.verdict = verdict
  }

  get skipped(): readonly Skipped[] {
    return NOTHING
  }

  protected get spoken(): readonly Spoken[] {
    return [this.one]
  }

  protected get verdicts(): readonly Verdict[] {
    return [this.verdict]
  }

  protected get binding(): number {
    return 0
  }
}

/** A decision by any number of rules. */
export class Decided extends Deciding {
  readonly allowed: boolean
  readonly skipped: readonly Skipped[]
  protected readonly spoken: readonly Spoken[]
  protected readonly verdicts: readonly Verdict[]

  constructor(
    spoken: readonly Spoken[],
    verdicts: readonly Verdict[],
    skipped: readonly Skipped[],
  ) {
    super()
    this.allowed = verdicts.every((verdict, i) => verdict.allowed || spoken[i]!.shadow)
    this.spoken = spoken
    this.verdicts = verdicts
    this.skipped = skipped
  }

  protected get binding(): number {
    let binding = -1
    for (let i = 0; i < this.spoken.length; i++) {
      if (this.spoken[i]!.shadow) continue
      if (binding < 0 || isTighter(this.verdicts[i]!, this.verdicts[binding]!)) binding = i
    }
    return binding
  }
}

/** Refusing before allowing; among refusals the longer wait, else the less remaining. */
function isTighter(a: Verdict, b: Verdict): boolean {
  if (a.allowed !== b.allowed) return b.allowed
  if (a.allowed) return a.remaining < b.remaining
  return (a.retryAfter ?? Infinity) > (b.retryAfter ?? Infinity)
}
