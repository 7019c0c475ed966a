// One take in TypeScript: let time pass, see whether the cost fits, spend it. (The Redis script does the same in Lua.)
import type { Limit } from './limit.ts'
import type { Source, Verdict } from './verdict.ts'
import type { Millis } from '../time/clock.ts'
import type { AlgorithmRow, State } from '../algorithms/algorithm.ts'
import { algorithmOf } from '../algorithms/table.ts'

/** Decides one cost against one state at one instant. Pure. The result is the verdict and carries the next state. */
export function take(
  limit: Limit,
  state: State | undefined,
  cost: number,
  now: Millis,
): LazyVerdict {
  const algorithm = algorithmOf(limit)
  const own = state === undefined ? algorithm.fresh(limit, now) : { ...state }
  return takeBy(algorithm, limit, own, cost, now)
}

/** {@link take} for a caller that owns the state and wants it changed in place. */
export function takeBy(
  algorithm: AlgorithmRow,
  limit: Limit,
  state: State,
  cost: number,
  now: Millis,
): LazyVerdict {
  const allowed = algorithm.take(limit, state, cost, now)
  const OwnVerdict = algorithm.words === 0 ? LazyLogVerdict : LazyVerdict
  return new OwnVerdict(limit, state, cost, now, allowed, true, 'memory')
}

/** What {@link takeBy} would answer; time passes for the state, but nothing is taken from it. */
export function peekBy(
  algorithm: AlgorithmRow,
  limit: Limit,
  state: State,
  cost: number,
  now: Millis,
  source: Source = 'memory',
): LazyVerdict {
  algorithm.take(limit, state, 0, now)
  const allowed = cost === 0 || algorithm.take(limit, { ...state }, cost, now)
  const OwnVerdict = algorithm.words === 0 ? LazyLogVerdict : LazyVerdict
  return new OwnVerdict(limit, state, cost, now, allowed, false, source)
}

/**
 * A verdict that computes its numbers when they are read.
 *
 * Most callers read `allowed` alone, and the divisions behind the rest cost more than the decision.
 */
export class LazyVerdict implements Verdict {
  readonly allowed: boolean
  readonly at: Millis
  readonly source: Source
  private readonly limit: Limit
  private readonly cost: number
  /** Whether the state is the one after the cost was taken; if not, nothing was. */
  private readonly isSpent: boolean
  private readonly stateAt: Millis
  private readonly used: number
  private readonly before: number

  constructor(
    limit: Limit,
    state: State,
    cost: number,
    now: Millis,
    allowed: boolean,
    isSpent: boolean,
    source: Source,
  ) {
    this.allowed = allowed
    this.at = now
    this.source = source
    this.limit = limit
    this.cost = cost
    this.isSpent = isSpent
    this.stateAt = state.at
    this.used = state.used
    this.before = state.before
  }

  /** The state after the decision; when nothing was taken, the state as it is at this instant. */
  get next(): State {
    return { at: this.stateAt, used: this.used, before: this.before }
  }

  get remaining(): number {
    return algorithmOf(this.limit).remaining(this.limit, this.next, this.at)
  }

  get retryAfter(): Millis | null {
    const { limit, cost, at } = this
    if (this.allowed) return 0
    return cost > limit.burst ? null : algorithmOf(limit).freeAt(limit, this.next, cost, at) - at
  }

  get resetAfter(): Millis {
    return algorithmOf(this.limit).fullAt(this.limit, this.next, this.at) - this.at
  }

  get availableAfter(): Millis {
    const { limit, remaining, at } = this
    if (remaining >= limit.burst) return 0
    return algorithmOf(limit).freeAt(limit, this.next, remaining + 1, at) - at
  }

  get delay(): Millis {
    const algorithm = algorithmOf(this.limit)
    if (!algorithm.delays || !this.allowed || this.cost === 0) return 0
    return algorithm.delay(this.limit, this.next, this.isSpent ? this.cost : 0, this.at)
  }

  /** The verdict as plain data, for JSON. */
  toJSON(): Verdict {
    const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source } = this
    return { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source }
  }
}

/** A verdict over a state that is more than its numbers. */
class LazyLogVerdict extends LazyVerdict {
  private readonly whole: State

  constructor(...parts: ConstructorParameters<typeof LazyVerdict>) {
    super(...parts)
    this.whole = parts[1]
  }

  override get next(): State {
    return this.whole
  }
}
