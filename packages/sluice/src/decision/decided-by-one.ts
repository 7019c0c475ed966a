// Decisions by the one rule there is, which are most decisions.
import { Taken } from '../algorithms/take.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Left } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import type { Skipped } from './decision.ts'
import { Deciding, Told, type Spoken } from './deciding.ts'

const NOTHING: readonly never[] = []

/** A decision by one rule. */
abstract class ByOne extends Deciding {
  protected abstract readonly one: Spoken
  protected abstract readonly verdict: Verdict

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

  override get told(): readonly Told[] {
    return [new Told(this.one, this.verdict)]
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

  constructor(allowed: boolean, spoken: Spoken, left: Left) {
    super()
    this.allowed = allowed
    this.one = spoken
    this.now = left.now
    this.stateAt = left.at
    this.used = left.used
    this.before = left.before
  }

  protected get verdict(): Verdict {
    const { limit, cost } = this.one
    const state = { at: this.stateAt, used: this.used, before: this.before }
    return new Taken(limit, state, cost, this.now, this.allowed, true)
  }
}
