// What all decisions have in common. Like the verdicts under them, they work out their numbers when asked.
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
export abstract class Deciding implements Decision {
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

  /** The outcomes, each of which works out its numbers when asked. */
  get told(): readonly Tellable[] {
    const { spoken, verdicts } = this
    const told: Tellable[] = []
    for (let i = 0; i < spoken.length; i++) told.push(new Told(spoken[i]!, verdicts[i]!))
    return told
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

/** What those who tell clients need of an outcome. */
export type Tellable = Pick<
  Outcome,
  | 'rule'
  | 'limit'
  | 'allowed'
  | 'remaining'
  | 'retryAfter'
  | 'resetAfter'
  | 'availableAfter'
  | 'shadow'
  | 'hidden'
>

/** The outcomes of any decision, for those who read only some of their numbers: quicker than `outcomes`. */
export function toldBy(decision: Decision): readonly Tellable[] {
  return decision instanceof Deciding ? decision.told : decision.outcomes
}

/** An outcome that works out its numbers when asked. */
class Told implements Tellable {
  private readonly spoken: Spoken
  private readonly verdict: Verdict

  constructor(spoken: Spoken, verdict: Verdict) {
    this.spoken = spoken
    this.verdict = verdict
  }

  get rule(): string {
    return this.spoken.rule.name
  }

  get limit(): Limit {
    return this.spoken.limit
  }

  get allowed(): boolean {
    return this.verdict.allowed
  }

  get remaining(): number {
    return this.verdict.remaining
  }

  get retryAfter(): Millis | null {
    return this.verdict.retryAfter
  }

  get resetAfter(): Millis {
    return this.verdict.resetAfter
  }

  get availableAfter(): Millis {
    return this.verdict.availableAfter
  }

  get shadow(): boolean {
    return this.spoken.shadow
  }

  get hidden(): boolean {
    return this.spoken.rule.hidden ?? false
  }
}

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
