// The counts of every space: tables of keys and states, with expiry and eviction in small steps, within the room they share.
import type { AlgorithmRow, State } from '../../algorithms/algorithm.ts'
import { algorithmOf } from '../../algorithms/table.ts'
import type { Limit } from '../../limit/limit.ts'
import type { Millis } from '../../time/clock.ts'
import type { Check } from '../store.ts'
import { slotsFor, type Room, type Slots } from './slots.ts'

/** Most slots that one tick of the sweeper looks at, and most keys that it forgets: well under 5 ms. */
const LOOKS_PER_TICK = 16_384
const REMOVALS_PER_TICK = 1024

/** Where a key that has no slot goes; an index finds {@link NEW} for it. */
export const NEW = -1
export const OVERFLOW = -2

/** Keys that may go for one new key, which may be longer than they are. */
const MAX_EVICTIONS = 8

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
  isHeld = false
  /** The limit that was learned last. */
  private learned: Limit | undefined
  readonly room: Room
  slots: Slots

  constructor(space: string, limit: Limit, room: Room, slowestQuota?: number) {
    this.space = space
    this.algorithm = algorithmOf(limit)
    this.strictest = limit
    this.learned = slowestQuota === undefined ? limit : undefined
    this.room = room
    this.slots = slotsFor(this.algorithm, room)
  }

  /** The state in a slot, in the overflow count, or of a new key. */
  load(slot: number, limit: Limit, now: Millis): State {
    if (slot >= 0) return this.slots.load(slot)
    if (slot === OVERFLOW && this.overflow !== undefined) return { ...this.overflow }
    return this.algorithm.fresh(limit, now)
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

  /** Forgets everything. */
  clear(): void {
    this.slots = slotsFor(this.algorithm, this.room)
    this.overflow = undefined
  }

  /**
   * Forgets expired keys among the next slots in turn: looks at `looks` slots, removes at most `removals`.
   * Returns how many went.
   */
  sweep(now: Millis, looks: number, removals: number): number {
    let removed = 0
    for (let i = Math.min(looks, this.slots.records.span); i > 0 && removed < removals; i--) {
      const slot = this.slots.next()
      if (slot >= 0 && this.isNew(this.slots.load(slot), now)) {
        this.slots.remove(slot)
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
    const kept = keep.map(({ key }) => this.slots.keys.find(key))
    for (let i = Math.min(LOOKS, this.slots.records.span); i > 0 && candidates < CANDIDATES; i--) {
      const slot = this.slots.next()
      if (slot < 0 || kept.includes(slot)) continue
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
    this.slots.remove(victim)
    return true
  }

  /** Whether nothing would be lost without this table. */
  isIdle(now: Millis): boolean {
    if (this.slots.records.size > 0 || this.isHeld) return false
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

/** The counts of every space, within the room. */
export class Tables {
  readonly room: Room
  evicted = 0
  overflowed = 0
  private readonly bySpace = new Map<string, Table>()
  /** The same tables, for taking turns. */
  private turns: Table[] = []
  private turn = 0
  private lastTable: Table | undefined

  constructor(room: Room) {
    this.room = room
  }

  /** The table of a space, undefined when there is none. */
  get(space: string): Table | undefined {
    return this.bySpace.get(space)
  }

  /** The table of a check, made if need be. */
  of({ space, limit, slowestQuota }: Check): Table {
    const last = this.lastTable
    if (last?.space === space) return last
    // Requests of several checks meet the same tables in the same order.
    const next = last?.follower
    const table = next?.space === space ? next : this.make(space, limit, slowestQuota)
    if (last !== undefined) last.follower = table
    return (this.lastTable = table)
  }

  /** The table of a space, made if need be. */
  make(space: string, limit: Limit, slowestQuota?: number): Table {
    let table = this.bySpace.get(space)
    if (table === undefined) {
      table = new Table(space, limit, this.room, slowestQuota)
      this.bySpace.set(space, table)
      this.turns.push(table)
    }
    return table
  }

  /** Keeps the state of a check, whose key is in this slot or in none; the keys of `checks`, those of its request, stay. */
  save(
    table: Table,
    check: Check,
    slot: number,
    state: State,
    now: Millis,
    checks: readonly Check[],
  ): void {
    table.learn(check.limit, check.slowestQuota)
    if (slot >= 0) {
      table.slots.save(slot, state)
      // A state that is more than its numbers may have grown.
      if (this.room.bytes > this.room.maxBytes) this.evict(table, now, checks)
    } else if (slot === OVERFLOW) {
      this.overflowed += 1
      table.overflow = state
    } else {
      table.slots.add(check.key, state)
      table.sweep(now, LOOKS_PER_ADD, LOOKS_PER_ADD)
    }
  }

  /** The state to show for a key, which need not be there. */
  show(table: Table, check: Check, now: Millis): State {
    table.learn(check.limit, check.slowestQuota)
    let slot = table.slots.keys.find(check.key)
    if (slot < 0 && !table.slots.hasRoomFor(check.key, 0)) slot = OVERFLOW
    return table.load(slot, check.limit, now)
  }

  /** Where a key without a slot goes, when `added` others are about to be added and those of `checks` must stay. */
  placeFor(
    table: Table,
    check: Check,
    added: number,
    now: Millis,
    checks: readonly Check[],
  ): number {
    // What will not be stored needs no room.
    if (check.cost === 0 || (check.cost > check.limit.burst && check.countRefused !== true))
      return NEW
    for (let i = 0; !table.slots.hasRoomFor(check.key, added); i++) {
      if (i === MAX_EVICTIONS || !this.evict(table, now, checks)) return OVERFLOW
    }
    return NEW
  }

  /** Forgets some expired keys, and tables that have none left; true when there is reason to go on at once. */
  sweep(now: Millis): boolean {
    let looks = LOOKS_PER_TICK
    let removals = REMOVALS_PER_TICK
    let isEmptied = false
    // Round robin over the tables, each of which goes on where it stopped.
    for (let i = this.turns.length; i > 0 && looks > 0 && removals > 0; i--) {
      this.turn = (this.turn + 1) % this.turns.length
      const table = this.turns[this.turn]!
      const removed = table.sweep(now, looks, removals)
      looks -= table.slots.records.size + 1
      removals -= removed
      if (table.isIdle(now)) isEmptied = true
    }
    if (isEmptied) this.drop(now)
    return removals <= 0
  }

  clear(): void {
    for (const table of this.turns) table.clear()
    this.bySpace.clear()
    this.turns = []
    this.forgetLast()
    this.room.keys = 0
    this.room.bytes = 0
  }

  /** Removes tables that hold nothing: those of removed rules would stay forever. */
  private drop(now: Millis): void {
    for (const table of this.turns) if (table.isIdle(now)) this.bySpace.delete(table.space)
    this.turns = [...this.bySpace.values()]
    this.forgetLast()
  }

  private forgetLast(): void {
    this.lastTable = undefined
    for (const table of this.turns) table.follower = undefined
  }

  /** Forgets a key that is not over its limit, of this table if it has one. */
  private evict(table: Table, now: Millis, checks: readonly Check[]): boolean {
    const isFreed =
      table.evict(now, checks) ||
      this.turns.some((other) => other !== table && other.evict(now, checks))
    if (isFreed) this.evicted += 1
    return isFreed
  }
}
