// All tables of a memory store, and the room for keys that they share.
import type { State } from '../../algorithms/algorithm.ts'
import type { Limit } from '../../limit/limit.ts'
import type { Millis } from '../../time/clock.ts'
import type { Check } from '../store.ts'
import { Table } from './table.ts'

/** Keys per Map at which V8 rehashes it in about a millisecond. */
const KEYS_PER_SHARD = 65_536
/** Slots looked at for expired keys whenever a key is added. */
const LOOKS_PER_ADD = 4
/** Most slots that one tick of the sweeper looks at, and most keys that it forgets: well under 5 ms. */
const LOOKS_PER_TICK = 16_384
const REMOVALS_PER_TICK = 1024

/** Where a key that has no slot goes. */
export const NEW = -1
export const OVERFLOW = -2

/** The counts of every space, at most `maxKeys` of them. */
export class Tables {
  keys = 0
  evicted = 0
  overflowed = 0
  private readonly maxKeys: number
  private readonly shards: number
  private readonly bySpace = new Map<string, Table>()
  /** The same tables, for taking turns. */
  private turns: Table[] = []
  private turn = 0
  private lastSpace: string | undefined
  private lastTable: Table | undefined

  constructor(maxKeys: number) {
    this.maxKeys = maxKeys
    this.shards = 2 ** Math.ceil(Math.log2(Math.max(1, maxKeys / KEYS_PER_SHARD)))
  }

  /** The table of a space, undefined when there is none. */
  get(space: string): Table | undefined {
    return this.bySpace.get(space)
  }

  /** The table of a check, made if need be. */
  of(check: Check): Table {
    if (check.space === this.lastSpace) return this.lastTable!
    this.lastTable = this.make(check.space, check.limit)
    this.lastSpace = check.space
    return this.lastTable
  }

  /** The table of a space, made if need be. */
  make(space: string, limit: Limit): Table {
    let table = this.bySpace.get(space)
    if (table === undefined) {
      table = new Table(space, limit, this.shards)
      this.bySpace.set(space, table)
      this.turns.push(table)
    }
    return table
  }

  /** The state in a slot, in the overflow count, or of a new key. */
  load(table: Table, slot: number, check: Check, now: Millis): State {
    if (slot >= 0) return table.load(slot)
    if (slot === OVERFLOW && table.overflow !== undefined) return { ...table.overflow }
    return table.algorithm.fresh(check.limit, now)
  }

  save(table: Table, check: Check, slot: number, state: State, now: Millis): void {
    table.learn(check.limit, check.slowestQuota)
    if (slot >= 0) {
      table.save(slot, state)
    } else if (slot === OVERFLOW) {
      this.overflowed += 1
      table.overflow = state
    } else {
      const found = table.find(check.key)
      if (found !== undefined) return table.save(found, state)
      this.keys += 1
      table.add(check.key, state)
      this.keys -= table.sweep(now, LOOKS_PER_ADD, LOOKS_PER_ADD)
    }
  }

  /** The state to show for a key, which need not be there. */
  show(table: Table, check: Check, now: Millis): State {
    table.learn(check.limit, check.slowestQuota)
    const slot = table.find(check.key) ?? (this.keys < this.maxKeys ? NEW : OVERFLOW)
    return this.load(table, slot, check, now)
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
    if (this.keys + added < this.maxKeys) return NEW
    if (this.evictFrom(table, now, checks)) return NEW
    for (const other of this.turns) {
      if (other !== table && this.evictFrom(other, now, checks)) return NEW
    }
    return OVERFLOW
  }

  remove(table: Table, slot: number): void {
    table.remove(slot)
    this.keys -= 1
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
      this.keys -= removed
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
    this.keys = 0
  }

  /** Lets go of tables that hold nothing; those of rules that are gone would stay forever. */
  private drop(now: Millis): void {
    for (const table of this.turns) if (table.isIdle(now)) this.bySpace.delete(table.space)
    this.turns = [...this.bySpace.values()]
    this.forgetLast()
  }

  private forgetLast(): void {
    this.lastSpace = undefined
    this.lastTable = undefined
  }

  private evictFrom(table: Table, now: Millis, checks: readonly Check[]): boolean {
    if (!table.evict(now, checks)) return false
    this.keys -= 1
    this.evicted += 1
    return true
  }
}
