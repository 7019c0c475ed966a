// The one decision: let time pass, see whether the cost fits, spend it. Pure; every store calls this.
import type { Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Millis } from '../time/clock.ts'
import type { Algorithm, State } from './algorithm.ts'
import { algorithmOf } from './index.ts'

/** Decides one cost against one state at one instant. The result is the verdict and carries the next state. */
export function take(limit: Limit, state: State | undefined, cost: number, now: Millis): Taken {
  const algorithm = algorithmOf(limit)
  return takeBy(algorithm, limit, state ?? algorithm.fresh(limit, now), cost, now)
}

/** {@link take} for a caller that has looked up the algorithm and the state. */
export function takeBy(
  algorithm: Algorithm,
  limit: Limit,
  state: State,
  cost: number,
  now: Millis,
): Taken {
  const advanced = algorithm.advance(limit, state, now)
  // Three returns rather than one, so that V8 need not make the state that is thrown away.
  if (cost === 0) return new Taken(algorithm, limit, advanced, cost, now, true)
  if (!algorithm.fits(limit, advanced, cost, now))
    return new Taken(algorithm, limit, advanced, cost, now, false)
  return new Taken(algorithm, limit, algorithm.spend(limit, advanced, cost, now), cost, now, true)
}

/** What {@link takeBy} would say, with the state left as it is. */
export function peekBy(
  algorithm: Algorithm,
  limit: Limit,
  state: State,
  cost: number,
  now: Millis,
): Taken {
  const advanced = algorithm.advance(limit, state, now)
  const allowed = cost === 0 || algorithm.fits(limit, advanced, cost, now)
  return new Peeked(algorithm, limit, advanced, cost, now, allowed)
}

/**
 * A verdict that works out its numbers when they are asked for.
 *
 * Most callers read `allowed` alone, and the divisions behind the rest cost more than the decision.
 */
export class Taken implements Verdict {
  readonly allowed: boolean
  /** The state after the decision; when nothing was taken, the state as it is at this instant. */
  readonly next: State
  readonly at: Millis
  protected readonly algorithm: Algorithm
  protected readonly limit: Limit
  protected readonly cost: number

  constructor(
    algorithm: Algorithm,
    limit: Limit,
    next: State,
    cost: number,
    now: Millis,
    allowed: boolean,
  ) {
    this.allowed = allowed
    this.next = next
    this.at = now
    this.algorithm = algorithm
    this.limit = limit
    this.cost = cost
  }

  get remaining(): number {
    return this.algorithm.remaining(this.limit, this.next, this.at)
  }

  get retryAfter(): Millis | null {
    if (this.allowed) return 0
    if (this.cost > this.limit.burst) return null
    return this.algorithm.freeAt(this.limit, this.next, this.cost, this.at) - this.at
  }

  get resetAfter(): Millis {
    return this.algorithm.fullAt(this.limit, this.next, this.at) - this.at
  }

  get availableAfter(): Millis {
    const { remaining } = this
    if (remaining >= this.limit.burst) return 0
    return this.algorithm.freeAt(this.limit, this.next, remaining + 1, this.at) - this.at
  }

  get delay(): Millis {
    return this.allowed && this.cost > 0
      ? this.algorithm.delay(this.limit, this.next, this.cost, this.at)
      : 0
  }

  /** The verdict as plain data, for JSON. */
  toJSON(): Verdict {
    const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at } = this
    return { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at }
  }
}

/** A verdict of which nothing was spent. */
class Peeked extends Taken {
  override get delay(): Millis {
    return this.allowed && this.cost > 0
      ? this.algorithm.delay(this.limit, this.next, 0, this.at)
      : 0
  }
}

/** A verdict over a state that somebody else decided on, with the cost taken from it. */
export function taken(...parts: ConstructorParameters<typeof Taken>): Verdict {
  return new Taken(...parts)
}

/** A verdict over a state that somebody else looked at, with nothing taken from it. */
export function peeked(...parts: ConstructorParameters<typeof Taken>): Verdict {
  return new Peeked(...parts)
}
