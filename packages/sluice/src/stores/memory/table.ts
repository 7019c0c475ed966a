// All counts of one space: keys to states, with expiry and eviction in small steps.
import type { Algorithm, State } from '../../algorithms/algorithm.ts'
import { algorithmOf } from '../../algorithms/index.ts'
import { takeBy, type Taken } from '../../algorithms/take.ts'
import type { Limit } from '../../limit/limit.ts'
import type { Millis } from '../../time/clock.ts'
import { slotsFor, type Slots } from './slots.ts'

/** Slots that one search for a victim looks at, at most. */
const LOOKS = 128
/** Keys that may go, among which the one soonest forgotten is chosen. */
const CANDIDATES = 8

/** The counts of one space. All its limits share one algorithm and one window. */
export class Table {
  readonly algorithm: Algorithm
  /** What new keys share when there is no room for them. */
  overflow: State | undefined
  /**
   * The smallest quota and burst seen here. Keys may have different limits (tiers); reading every state by
   * the strictest expires none too early and takes none for free that is not.
   */
  private strictest: Limit
  /** A power of two of them: V8 rehashes a whole Map when it grows or shrinks, and a huge one takes long. */
  private readonly maps: readonly Map<string, number>[]
  private readonly mask: number
  private readonly slots: Slots

  constructor(limit: Limit, shards: number) {
    this.algorithm = algorithmOf(limit)
    this.strictest = limit
    this.maps = Array.from({ length: shards }, () => new Map())
    this.mask = shards - 1
    this.slots = slotsFor(this.algorithm)
  }

  get size(): number {
    return this.slots.size
  }

  /** The key's slot, or undefined. */
  find(key: string): number | undefined {
    return this.mapOf(key).get(key)
  }

  /** Decides for a key that is there and charges it when allowed; undefined when it is not there. */
  take(key: string, limit: Limit, cost: number, now: Millis): Taken | undefined {
    const slot = this.mapOf(key).get(key)
    if (slot === undefined) return undefined
    const state = this.slots.load(slot)
    const taken = takeBy(this.algorithm, limit, state, cost, now)
    if (cost > 0 && (taken.allowed || isSetBack(state, taken.next)))
      this.slots.save(slot, taken.next)
    return taken
  }

  /** Keeps what a refusal does to a state: nothing, unless the clock was set back. */
  refuse(slot: number, limit: Limit, now: Millis): void {
    const state = this.slots.load(slot)
    const advanced = this.algorithm.advance(limit, state, now)
    if (isSetBack(state, advanced)) this.slots.save(slot, advanced)
  }

  load(slot: number): State {
    return this.slots.load(slot)
  }

  save(slot: number, state: State): void {
    this.slots.save(slot, state)
  }

  add(key: string, state: State, limit: Limit): void {
    const { quota, burst } = this.strictest
    if (limit.quota > 0 && (limit.quota < quota || limit.burst < burst || quota === 0)) {
      const least = (a: number, b: number): number => (a === 0 ? b : Math.min(a, b))
      this.strictest = {
        ...limit,
        quota: least(quota, limit.quota),
        burst: least(burst, limit.burst),
      }
    }
    this.mapOf(key).set(key, this.slots.add(key, state))
  }

  remove(slot: number): void {
    const key = this.slots.keyAt(slot)!
    this.mapOf(key).delete(key)
    this.slots.remove(slot)
  }

  /**
   * Forgets expired keys among the next slots in turn: looks at `looks` slots, removes at most `removals`.
   * Returns how many went.
   */
  sweep(now: Millis, looks: number, removals: number): number {
    let removed = 0
    for (let i = Math.min(looks, this.slots.span); i > 0 && removed < removals; i--) {
      const slot = this.slots.next()
      if (slot !== undefined && this.isExpired(slot, now)) {
        this.remove(slot)
        removed += 1
      }
    }
    return removed
  }

  /**
   * Frees one key that is not over its limit, an expired one among the first. False when the look found
   * none; keys in `keep` stay.
   */
  evict(now: Millis, keep: readonly { readonly key: string }[]): boolean {
    let victim: number | undefined
    let soonest = Infinity
    let candidates = 0
    for (let i = Math.min(LOOKS, this.slots.span); i > 0 && candidates < CANDIDATES; i--) {
      const slot = this.slots.next()
      if (slot === undefined) continue
      const state = this.load(slot)
      if (!takeBy(this.algorithm, this.strictest, state, 1, now).allowed) continue
      if (keep.some(({ key }) => key === this.slots.keyAt(slot))) continue
      candidates += 1
      const fullAt = this.algorithm.fullAt(this.strictest, state, now)
      if (fullAt < soonest) {
        soonest = fullAt
        victim = slot
      }
    }
    if (victim === undefined) return false
    this.remove(victim)
    return true
  }

  private isExpired(slot: number, now: Millis): boolean {
    return this.algorithm.fullAt(this.strictest, this.load(slot), now) <= now
  }

  private mapOf(key: string): Map<string, number> {
    return this.maps[spread(key) & this.mask]!
  }
}

/**
 * Whether the clock was set back and the state moved with it: the one thing that a refusal keeps, since for a
 * state ahead of its clock time would not go on.
 */
function isSetBack(state: State, advanced: State): boolean {
  return advanced.at < state.at
}

/** A number from a few characters: cheap, and an uneven spread costs nothing but longer rehashing. */
function spread(key: string): number {
  const end = key.length - 1
  if (end < 1) return 0
  return key.charCodeAt(end) + 3 * key.charCodeAt(end >> 1) + 7 * key.charCodeAt(end - 1)
}
