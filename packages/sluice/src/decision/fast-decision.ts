// The decision of the fast path: it holds the state itself, so that a hot decision is one object.
import { LazyVerdict } from '../limit/take.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { TakeOutput } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import { LazyDecision, type RuleCheck } from './lazy-decision.ts'

const NONE: readonly never[] = []

/** A decision by one rule over a count in this process. Its verdict is made when a number is read. */
export class FastDecision extends LazyDecision {
  private readonly now: Millis
  private readonly stateAt: Millis
  private readonly used: number
  private readonly before: number

  constructor(allowed: boolean, one: readonly [RuleCheck], output: TakeOutput) {
    super(allowed, one, NONE, NONE)
    this.now = output.now
    this.stateAt = output.at
    this.used = output.used
    this.before = output.before
  }

  protected override get verdicts(): readonly Verdict[] {
    if (this.ownVerdicts === NONE) {
      const { limit, cost } = this.checks[0]!
      const state = { at: this.stateAt, used: this.used, before: this.before }
      this.ownVerdicts = [
        new LazyVerdict(limit, state, cost, this.now, this.allowed, true, 'memory'),
      ]
    }
    return this.ownVerdicts
  }
}
