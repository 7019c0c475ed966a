// The judge of the algorithms: answers by definition and by search, slowly and exactly.
//
// Every number of a verdict is the answer to a question such as "what is the smallest wait after which
// this would be admitted?", found by trying, never by a formula for it.
import type { Limit } from '../src/limit/limit.ts'
import type { Verdict } from '../src/limit/verdict.ts'
import type { Millis } from '../src/time/clock.ts'
import type { Definition, Entry, ExactLimit } from './definitions.ts'
import { definitionFor } from './variant-definitions.ts'

/** What is known of a count: its history, and the last instant at which units were taken or handed back. */
interface Known {
  readonly history: readonly Entry[]
  readonly last: bigint | undefined
}

const NOTHING: Known = { history: [], last: undefined }

/** One count of one limit. */
export class Oracle {
  readonly #limit: ExactLimit
  readonly #definition: Definition
  readonly #holds: boolean
  #known = NOTHING

  constructor(limit: Limit) {
    this.#limit = {
      quota: BigInt(limit.quota),
      window: BigInt(limit.window),
      burst: BigInt(limit.burst),
    }
    this.#definition = definitionFor(limit)
    this.#holds = this.#definition.holds ?? false
  }

  take(cost: number, now: Millis): Verdict {
    const t = BigInt(now)
    const before = this.#followed(t)
    const allowed = this.#admits(before, BigInt(cost), t)
    const after = allowed && cost > 0 ? this.#spent(before, BigInt(cost), t) : before
    // A refusal changes nothing, except that a history which moved with the clock stays there.
    if (cost > 0) this.#known = after
    return this.#verdict(before, after, cost, now, allowed)
  }

  peek(cost: number, now: Millis): Verdict {
    const known = this.#followed(BigInt(now))
    return this.#verdict(known, known, cost, now, this.#admits(known, BigInt(cost), BigInt(now)))
  }

  refund(cost: number, now: Millis, takenAt: Millis): void {
    const t = BigInt(now)
    const known = this.#followed(t)
    if (known.last === undefined) return
    const instant = this.#instant(known, t)
    const history = this.#definition.given(
      this.#limit,
      known.history,
      BigInt(cost),
      instant,
      BigInt(takenAt),
    )
    const left = { history, last: instant }
    // A count that is as good as new is forgotten.
    this.#known = this.#isFull(left, t) ? NOTHING : left
  }

  /** A clock set back by more than a window takes the history with it, units and distances unchanged. */
  #followed(t: bigint): Known {
    const { history, last } = this.#known
    if (last === undefined) return this.#known
    const definition = this.#definition
    const ahead = definition.remembered(this.#limit, last) - definition.remembered(this.#limit, t)
    if (ahead <= this.#limit.window) return this.#known
    const moved = history.map(({ at, units }) => ({ at: at - ahead, units }))
    return { history: moved, last: last - ahead }
  }

  /** The instant that counts: a clock that went back a little stands still. */
  #instant({ last }: Known, t: bigint): bigint {
    if (last === undefined) return t
    const held = this.#definition.remembered(this.#limit, last)
    return t > held ? t : held
  }

  #admits(known: Known, cost: bigint, t: bigint): boolean {
    const instant = this.#instant(known, t)
    return cost === 0n || this.#definition.admits(this.#limit, known.history, cost, instant)
  }

  #isFull(known: Known, t: bigint): boolean {
    return this.#admits(known, this.#limit.burst, t)
  }

  #spent(known: Known, cost: bigint, t: bigint): Known {
    const at = this.#instant(known, t)
    const entry = { at, units: cost * this.#definition.weight(this.#limit) }
    // What no longer counts may be forgotten, since time never runs back behind `last`.
    const history = this.#isFull(known, t) ? [entry] : [...known.history, entry]
    return { history, last: at }
  }

  #verdict(before: Known, after: Known, cost: number, at: Millis, allowed: boolean): Verdict {
    const t = BigInt(at)
    const { burst } = this.#limit
    const remaining = largest(burst, (c) => this.#admits(after, c, t))
    const wait = (known: Known, c: bigint): number =>
      Number(smallest((d) => this.#admits(known, c, t + d)))
    return {
      allowed,
      remaining: Number(remaining),
      retryAfter: this.#retryAfter(after, cost, allowed, wait),
      resetAfter: wait(after, burst),
      availableAfter: remaining === burst ? 0 : wait(after, remaining + 1n),
      // The whole burst fits again when the work in front has drained.
      delay: this.#holds && allowed && cost > 0 ? wait(before, burst) : 0,
      at,
      source: 'memory',
    }
  }

  #retryAfter(
    known: Known,
    cost: number,
    allowed: boolean,
    wait: (known: Known, cost: bigint) => number,
  ): number | null {
    if (allowed) return 0
    const ever = this.#definition.admits(this.#limit, [], BigInt(cost), 0n)
    return ever ? wait(known, BigInt(cost)) : null
  }
}

/** The largest number up to `most` that passes, when all smaller ones do; 0 always passes. */
function largest(most: bigint, passes: (n: bigint) => boolean): bigint {
  let low = 0n
  let high = most
  while (low < high) {
    const middle = (low + high + 1n) / 2n
    if (passes(middle)) low = middle
    else high = middle - 1n
  }
  return low
}

/** The smallest number that passes, when all larger ones do. */
function smallest(passes: (n: bigint) => boolean): bigint {
  if (passes(0n)) return 0n
  let high = 1n
  while (!passes(high)) high *= 2n
  let low = high / 2n
  // `low` does not pass, `high` does.
  while (high - low > 1n) {
    const middle = (low + high) / 2n
    if (passes(middle)) high = middle
    else low = middle
  }
  return high
}
