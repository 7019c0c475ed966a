// The short ways to the counts of one table: one unit of one key, without a check or a verdict.
import type { Limit } from '../../limit/limit.ts'
import type { Clock } from '../../time/clock.ts'
import type { FastPath, TakeOutput } from '../store.ts'
import type { BoxedSlots, PackedSlots } from './slots.ts'
import { LOOKS_PER_ADD, type Table } from './tables.ts'

/** The short way to the counts of a table, which then stays; undefined if only its algorithm's `take` can decide. */
export function fastCounts(table: Table, limit: Limit, clock: Clock): FastPath | undefined {
  table.learn(limit)
  table.isHeld = true
  if (table.algorithm.words > 0) return new KnownCounts(table, limit, clock)
  return table.algorithm.takeOne && new BoxedCounts(table, limit, clock)
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
    const slot = table.slots.keys.find(key)
    // The store adds keys, and makes room when a state has grown beyond it.
    if (slot < 0 || table.room.bytes > table.room.maxBytes) return undefined
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
    const slot = table.slots.keys.find(key)
    if (slot < 0) return this.takeNew(key, left)
    left.now = this.clock()
    return (table.slots as PackedSlots).takeOne(slot, table.algorithm, this.limit, left)
  }

  /** A key without a state; undefined when there is no room, or nothing to take. */
  private takeNew(key: string, left: TakeOutput): true | undefined {
    const { table, limit } = this
    if (!table.slots.hasRoomFor(key, 0)) return undefined
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
