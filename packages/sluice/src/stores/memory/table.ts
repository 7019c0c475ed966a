// All counts of one space: keys to states, with expiry and eviction in small steps.
import type { AlgorithmRow, State } from '../../algorithms/algorithm.ts'
import { algorithmOf } from '../../algorithms/table.ts'
import type { Limit } from '../../limit/limit.ts'
import type { Clock, Millis } from '../../time/clock.ts'
import type { Check, FastPath, TakeOutput } from '../store.ts'
import { RecentKeys } from './recent-keys.ts'
import type { Room } from './room.ts'
import { slotsFor, type BoxedSlots, type PackedSlots, type Slots } from './slots.ts'

/** Slots looked at for expired keys whenever a key is added. */
export const LOOKS_PER_ADD = 4
/** Slots that one search for a victim looks at, at most. */
const LOOKS = 128
/** Keys that may go, among which the one soonest forgotten is chosen. */
const CANDIDATES = 8

/** The counts of one space. All its limits share one algorithm and one window. */
export class Table {
  readonly space: string
  readonly algorithm: AlgorithmRow
  /** What new keys share when there is no room for them. */
  overflow: State | undefined = undefined
  /** The table of the check behind the last one on this table. */
  follower: Table | undefined = undefined
  /**
   * The smallest quota and burst of the limits that read these counts (tiers have different ones). Expiry and eviction
   * read every state by this limit, so that no count is forgotten while a slower limit would still refuse.
   */
  private strictest: Limit
  /** Whether a caller has a fast path to these counts. */
  private isHeld = false
  /** The limit that was learned last. */
  private learned: Limit | undefined
  readonly room: Room
  slots: Slots
  private readonly recent = new RecentKeys()

  constructor(space: string, limit: Limit, room: Room) {
    this.space = space
    this.algorithm = algorithmOf(limit)
    this.strictest = limit
    this.room = room
    this.slots = slotsFor(this.algorithm, room)
  }

  get size(): number {
    return this.slots.size
  }

  /** The key's slot, or undefined. */
  find(key: string): number | undefined {
    const known = this.recent.find(key)
    if (known >= 0) return known
    const slot = this.slots.find(key)
    if (slot < 0) return undefined
    this.recent.add(key, slot)
    return slot
  }

  /** The slot of a key that was found lately; -1 for another, whose text is then read for `slots.likely` and {@link findRead}. */
  findRecent(key: string): number {
    const known = this.recent.find(key)
    if (known < 0) this.slots.read(key)
    return known
  }

  /** The slot of the key that was read last, or undefined; `likely` is looked at first. */
  findRead(key: string, likely: number): number | undefined {
    const slot = likely >= 0 && this.slots.holdsRead(likely) ? likely : this.slots.find(key)
    if (slot < 0) return undefined
    this.recent.add(key, slot)
    return slot
  }

  /** A short way to the counts of this table, unless their states are more than numbers. */
  counts(limit: Limit, clock: Clock): FastPath | undefined {
    this.learn(limit)
    this.isHeld = true
    if (this.algorithm.words > 0) return new KnownCounts(this, limit, clock)
    return this.algorithm.takeOne && new BoxedCounts(this, limit, clock)
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

  remove(slot: number): void {
    this.recent.remove(slot)
    this.slots.remove(slot)
  }

  /** Forgets everything. */
  clear(): void {
    this.slots = slotsFor(this.algorithm, this.room)
    this.recent.clear()
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
      if (slot !== undefined && this.isNew(this.slots.load(slot), now)) {
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
    const kept = keep.map(({ key }) => this.slots.find(key))
    for (let i = Math.min(LOOKS, this.slots.span); i > 0 && candidates < CANDIDATES; i--) {
      const slot = this.slots.next()
      if (slot === undefined) continue
      if (kept.includes(slot)) continue
      const state = this.slots.load(slot)
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
}

/** The smaller of two numbers above 0; 0 stands for none. */
function smallest(a: number, b: number): number {
  return a === 0 || b === 0 ? a + b : Math.min(a, b)
}

/** The path of states that are more than their numbers, for keys that have one. */
class BoxedCounts implements FastPath {
  private readonly table: Table
  private readonly limit: Limit
  private readonly clock: Clock

  constructor(table: Table, limit: Limit, clock: Clock) {
    this.table = table
    this.limit = limit
    this.clock = clock
  }

  take(key: string, left: TakeOutput): boolean | undefined {
    const { table } = this
    const slot = table.find(key)
    // The store adds keys, and makes room when a state has grown beyond it.
    if (slot === undefined || table.room.bytes > table.room.maxBytes) return undefined
    left.now = this.clock()
    return (table.slots as BoxedSlots).takeOne(slot, this.limit, left)
  }
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

  take(key: string, left: TakeOutput): boolean | undefined {
    const { table } = this
    const slot = table.find(key)
    if (slot === undefined) return this.takeNew(key, left)
    left.now = this.clock()
    return (table.slots as PackedSlots).takeOne(slot, table.algorithm, this.limit, left)
  }

  /** A key without a state; undefined when there is no room, or nothing to take. */
  private takeNew(key: string, left: TakeOutput): true | undefined {
    const { table, limit } = this
    if (!table.room.fits(table.slots.bytesFor(key), 0)) return undefined
    const now = this.clock()
    const state = table.algorithm.fresh(limit, now)
    if (!table.algorithm.take(limit, state, 1, now)) return undefined
    table.slots.add(key, state)
    table.sweep(now, LOOKS_PER_ADD, LOOKS_PER_ADD)
    left.now = now
    left.at = state.at
    left.used = state.used
    left.before = state.before
    return true
  }
}
