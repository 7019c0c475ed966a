// The decision of the fast path: it holds the state itself, so that a hot decision is one object.
import type { State } from '../algorithms/algorithm.ts'
import { algorithmOf } from '../algorithms/table.ts'
import type { Limit } from '../limit/limit.ts'
import { LazyVerdict } from '../limit/take.ts'
import type { Source, Verdict } from '../limit/verdict.ts'
import type { TakeOutput } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import {
  LazyDecision,
  type DecidedRequest,
  type IdMaker,
  type RuleCheck,
  type VisibleOutcome,
} from './lazy-decision.ts'

/**
 * A decision by one rule over a count in this process. It is its own outcome for header writers, which saves them seven
 * objects; its verdict is made when it is needed.
 */
export class FastDecision extends LazyDecision implements VisibleOutcome {
  readonly allowed: boolean
  protected readonly request: DecidedRequest
  protected name: string | IdMaker | undefined
  private readonly now: Millis
  private readonly stateAt: Millis
  private readonly used: number
  private readonly before: number

  /** `request`: one check of one unit, with any key. */
  constructor(allowed: boolean, request: DecidedRequest, output: TakeOutput) {
    super()
    this.allowed = allowed
    this.request = request
    this.name = undefined
    this.now = output.now
    this.stateAt = output.at
    this.used = output.used
    this.before = output.before
  }

  override get cause(): undefined {
    return undefined
  }

  override get pools(): undefined {
    return undefined
  }

  override get at(): Millis {
    return this.now
  }

  override get delay(): Millis {
    return algorithmOf(this.one.limit).delays ? super.delay : 0
  }

  override get rule(): string {
    return this.one.rule.name
  }

  override get limit(): Limit {
    return this.one.limit
  }

  override get remaining(): number {
    const { limit } = this.one
    return algorithmOf(limit).remaining(limit, this.state, this.now)
  }

  override get resetAfter(): Millis {
    const { limit } = this.one
    return algorithmOf(limit).fullAt(limit, this.state, this.now) - this.now
  }

  get availableAfter(): Millis {
    const { limit } = this.one
    const { remaining, now } = this
    if (remaining >= limit.burst) return 0
    return algorithmOf(limit).freeAt(limit, this.state, remaining + 1, now) - now
  }

  get source(): Source {
    return 'memory'
  }

  /** A rule on the fast path is enforced. */
  get shadow(): boolean {
    return false
  }

  override get marked(): undefined {
    return undefined
  }

  get hidden(): boolean {
    return this.one.rule.hidden ?? false
  }

  get visible(): readonly VisibleOutcome[] {
    return [this]
  }

  protected get verdicts(): readonly Verdict[] {
    const { limit, cost } = this.one
    return [new LazyVerdict(limit, this.state, cost, this.now, this.allowed, true, 'memory')]
  }

  protected get binding(): number {
    return 0
  }

  private get one(): RuleCheck {
    return this.request.checks[0]!
  }

  private get state(): State {
    return { at: this.stateAt, used: this.used, before: this.before }
  }
}
