// All counts of one space: keys to states, with expiry and eviction in small steps.
import type { AlgorithmRow, State } from '../../algorithms/algorithm.ts'
import { algorithmOf } from '../../algorithms/table.ts'
import type { Limit } from '../../limit/limit.ts'
import type { Clock, Millis } from '../../time/clock.ts'
import type { Check, FastPath, TakeOutput } from '../store.ts'
import { slotsFor, type PackedSlots, type Slots } from './slots.ts'

/** Slots that one search for a victim looks at, at most. */
const LOOKS = 128
/** Keys that may go, among which the one soonest forgotten is chosen. */
const CANDIDATES = 8

/** Keys in the first Map, at most. */
const LARGEST_MAP = 32_768

/** The counts of one space. All its limits share one algorithm and one window. */
export class Table {
  readonly space: string
  readonly algorithm: AlgorithmRow
  /** What new keys share when there is no room for them. */
  overflow: State | undefined
  /**
   * The smallest quota and burst of the limits that read these counts (tiers have different ones). Expiry and eviction
   * read every state by this limit, so that no count is forgotten while a slower limit would still refuse.
   */
  private strictest: Limit
  /** Whether a caller has a fast path to these counts. */
  private isHeld = false
  /** The limit that was learned last. */
  private learned: Limit | undefined
  slots: Slots
  /**
   * One Map; many, a power of two, once there are many keys: V8 rehashes a whole Map when it grows or shrinks,
   * and a huge one takes long. Keys of the first Map stay in it until they are asked for or forgotten.
   */
  private first = new Map<string, number>()
  private only: Map<string, number> | undefined = this.first
  private maps: readonly Map<string, number>[] = []
  private mask = 0
  private readonly shards: number

  constructor(space: string, limit: Limit, shards: number) {
    this.space = space
    this.algorithm = algorithmOf(limit)
    this.strictest = limit
    this.shards = shards
    this.slots = slotsFor(this.algorithm)
  }

  get size(): number {
    return this.slots.size
  }

  /** The key's slot, or undefined. */
  find(key: string): number | undefined {
    return this.only === undefined ? this.findInMaps(key) : this.only.get(key)
  }

  /** A short way to the counts of this table, unless their states are more than numbers. */
  counts(limit: Limit, clock: Clock): FastPath | undefined {
    this.learn(limit)
    this.isHeld = true
    return this.algorithm.words === 0 ? undefined : new KnownCounts(this, limit, clock)
  }

  /** Keeps what a refusal does to a state: nothing, unless the clock was set back. */
  refuse(slot: number, { limit, slowestQuota }: Check, now: Millis): void {
    this.learn(limit, slowestQuota)
    const state = slot >= 0 ? this.slots.load(slot) : this.overflow
    if (state === undefined) return
    const { at } = state
    this.algorithm.take(limit, state, 0, now)
    if (slot >= 0 && state.at < at) this.slots.save(slot, state)
  }

  load(slot: number): State {
    return this.slots.load(slot)
  }

  save(slot: number, state: State): void {
    this.slots.save(slot, state)
  }

  add(key: string, state: State): void {
    if (this.only !== undefined && this.slots.size >= LARGEST_MAP) this.split()
    this.mapOf(key).set(key, this.slots.add(key, state))
  }

  remove(slot: number): void {
    const key = this.slots.keyAt(slot)!
    if (!this.mapOf(key).delete(key)) this.first.delete(key)
    this.slots.remove(slot)
  }

  /** Forgets everything. */
  clear(): void {
    this.slots = slotsFor(this.algorithm)
    this.first = new Map()
    this.only = this.first
    this.maps = []
    this.overflow = undefined
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
      if (keep.some(({ key }) => key === this.slots.keyAt(slot))) continue
      const state = this.load(slot)
      const fullAt = this.algorithm.fullAt(this.strictest, state, now)
      if (!this.algorithm.take(this.strictest, state, 1, now)) continue
      candidates += 1
      if (fullAt < soonest) {
        soonest = fullAt
        victim = slot
      }
    }
    if (victim === undefined) return false
    this.remove(victim)
    return true
  }

  /** Whether nothing would be lost without this table. */
  isIdle(now: Millis): boolean {
    if (this.size > 0 || this.isHeld) return false
    return this.overflow === undefined || this.isNew(this.overflow, now)
  }

  private isExpired(slot: number, now: Millis): boolean {
    return this.isNew(this.load(slot), now)
  }

  /** Whether every limit that reads the state reads it as no state. */
  isNew(state: State, now: Millis): boolean {
    return this.algorithm.fullAt(this.strictest, state, now) <= now
  }

  /** Takes note of a limit that reads these counts, and of the slowest one that shares them. */
  learn(limit: Limit, slowestQuota?: number): void {
    if (limit === this.learned) return
    this.learned = limit
    const { quota, burst } = this.strictest
    const slowest = smallest(quota, smallest(limit.quota, slowestQuota ?? 0))
    const least = limit.quota === 0 ? burst : smallest(burst, limit.burst)
    if (slowest !== quota || least !== burst) {
      this.strictest = { ...limit, quota: slowest, burst: least }
    }
  }

  private findInMaps(key: string): number | undefined {
    const map = this.mapOf(key)
    const slot = map.get(key)
    return slot === undefined && this.first.size > 0 ? this.moveInto(map, key) : slot
  }

  /** Takes a key out of the first Map when it is asked for, so that it is found at once from then on. */
  private moveInto(map: Map<string, number>, key: string): number | undefined {
    const slot = this.first.get(key)
    if (slot === undefined) return undefined
    this.first.delete(key)
    map.set(key, slot)
    return slot
  }

  private mapOf(key: string): Map<string, number> {
    return this.only ?? this.maps[spread(key) & this.mask]!
  }

  private split(): void {
    if (this.shards === 1) return
    this.only = undefined
    this.maps = Array.from({ length: this.shards }, () => new Map())
    this.mask = this.shards - 1
  }
}

/** The smaller of two numbers above 0; 0 stands for none. */
function smallest(a: number, b: number): number {
  return a === 0 || b === 0 ? a + b : Math.min(a, b)
}

/** The path of most decisions, in few and small steps, which V8 makes one. */
class KnownCounts implements FastPath {
  private readonly table: Table
  private readonly limit: Limit
  private readonly clock: Clock

  constructor(table: Table, limit: Limit, clock: Clock) {
    this.table = table
    this.limit = limit
    this.clock = clock
  }

  takeExisting(key: string, left: TakeOutput): boolean | undefined {
    const { table } = this
    const slot = table.find(key)
    if (slot === undefined) return undefined
    left.now = this.clock()
    return (table.slots as PackedSlots).takeOne(slot, table.algorithm, this.limit, left)
  }
}

/** A number from a few characters: cheap, and an uneven spread costs nothing but longer rehashing. */
function spread(key: string): number {
  const end = key.length - 1
  if (end < 1) return 0
  return key.charCodeAt(end) + 3 * key.charCodeAt(end >> 1) + 7 * key.charCodeAt(end - 1)
}
