// All tables of a memory store, and the room for keys that they share.
import type { State } from '../../algorithms/algorithm.ts'
import type { Limit } from '../../limit/limit.ts'
import type { Millis } from '../../time/clock.ts'
import type { Check } from '../store.ts'
import type { Room } from './room.ts'
import { LOOKS_PER_ADD, Table } from './table.ts'

/** Most slots that one tick of the sweeper looks at, and most keys that it forgets: well under 5 ms. */
const LOOKS_PER_TICK = 16_384
const REMOVALS_PER_TICK = 1024

/** Where a key that has no slot goes. */
export const NEW = -1
export const OVERFLOW = -2

/** Keys that may go for one new key, which may be longer than they are. */
const MAX_EVICTIONS = 8

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
  of(check: Check): Table {
    const last = this.lastTable
    if (last === undefined) return (this.lastTable = this.make(check.space, check.limit))
    if (check.space === last.space) return last
    // Requests of several checks meet the same tables in the same order.
    const next = last.follower
    if (next !== undefined && check.space === next.space) return (this.lastTable = next)
    this.lastTable = this.make(check.space, check.limit)
    last.follower = this.lastTable
    return this.lastTable
  }

  /** The table of a space, made if need be. */
  make(space: string, limit: Limit): Table {
    let table = this.bySpace.get(space)
    if (table === undefined) {
      table = new Table(space, limit, this.room)
      this.bySpace.set(space, table)
      this.turns.push(table)
    }
    return table
  }

  /** The state in a slot, in the overflow count, or of a new key. */
  load(table: Table, slot: number, check: Check, now: Millis): State {
    if (slot >= 0) return table.slots.load(slot)
    if (slot === OVERFLOW && table.overflow !== undefined) return { ...table.overflow }
    return table.algorithm.fresh(check.limit, now)
  }

  /** Keeps the state of a check; the keys of `checks`, those of its request, stay. */
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
      const found = table.find(check.key)
      if (found !== undefined) return table.slots.save(found, state)
      table.slots.add(check.key, state)
      table.sweep(now, LOOKS_PER_ADD, LOOKS_PER_ADD)
    }
  }

  /** The state to show for a key, which need not be there. */
  show(table: Table, check: Check, now: Millis): State {
    table.learn(check.limit, check.slowestQuota)
    const slot = table.find(check.key)
    const place = slot ?? (this.room.fits(table.slots.bytesFor(check.key), 0) ? NEW : OVERFLOW)
    return this.load(table, place, check, now)
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
    const bytes = table.slots.bytesFor(check.key)
    for (let i = 0; !this.room.fits(bytes, added); i++) {
      if (i === MAX_EVICTIONS || !this.evict(table, now, checks)) return OVERFLOW
    }
    return NEW
  }

  remove(table: Table, slot: number): void {
    table.remove(slot)
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
      looks -= table.size + 1
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
