// Decisions by the one rule there is, which are most decisions.
import type { State } from '../algorithms/algorithm.ts'
import { algorithmOf } from '../algorithms/table.ts'
import { LazyVerdict } from '../limit/take.ts'
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { TakeOutput } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import type { Skipped } from './decision.ts'
import { Deciding, type Spoken, type Tellable } from './deciding.ts'

const NOTHING: readonly never[] = []

/** A decision by one rule, which is its own outcome to those who tell clients of it: no second object, no lists. */
abstract class ByOne extends Deciding implements Tellable {
  protected abstract readonly one: Spoken
  protected abstract readonly verdict: Verdict

  get skipped(): readonly Skipped[] {
    return NOTHING
  }

  override get rule(): string {
    return this.one.rule.name
  }

  override get limit(): Limit {
    return this.one.limit
  }

  override get remaining(): number {
    return this.verdict.remaining
  }

  get availableAfter(): Millis {
    return this.verdict.availableAfter
  }

  get shadow(): boolean {
    return this.one.shadow
  }

  get hidden(): boolean {
    return this.one.rule.hidden ?? false
  }

  override get told(): readonly Tellable[] {
    return [this]
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

/** A decision by the verdict of one rule. */
export class DecidedByOne extends ByOne {
  readonly allowed: boolean
  protected readonly one: Spoken
  protected readonly verdict: Verdict

  constructor(spoken: Spoken, verdict: Verdict) {
    super()
    this.allowed = verdict.allowed
    this.one = spoken
    this.verdict = verdict
  }
}

/** A decision by one rule that holds what its verdict would be made of: one object instead of two. */
export class DecidedAtOnce extends ByOne {
  readonly allowed: boolean
  protected readonly one: Spoken
  private readonly now: Millis
  private readonly stateAt: Millis
  private readonly used: number
  private readonly before: number

  constructor(allowed: boolean, spoken: Spoken, left: TakeOutput) {
    super()
    this.allowed = allowed
    this.one = spoken
    this.now = left.now
    this.stateAt = left.at
    this.used = left.used
    this.before = left.before
  }

  override get remaining(): number {
    const { limit } = this.one
    return algorithmOf(limit).remaining(limit, this.state, this.now)
  }

  override get availableAfter(): Millis {
    const { limit } = this.one
    const algorithm = algorithmOf(limit)
    const { state, now } = this
    const remaining = algorithm.remaining(limit, state, now)
    return remaining >= limit.burst ? 0 : algorithm.freeAt(limit, state, remaining + 1, now) - now
  }

  protected get verdict(): Verdict {
    const { limit, cost } = this.one
    return new LazyVerdict(limit, this.state, cost, this.now, this.allowed, true)
  }

  private get state(): State {
    return { at: this.stateAt, used: this.used, before: this.before }
  }
}
