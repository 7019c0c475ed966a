// The embedded store: counts in this process, answered at once.
import type { State } from '../../algorithms/algorithm.ts'
import { peekBy, takeBy, type Taken } from '../../algorithms/take.ts'
import { show, SluiceError } from '../../errors.ts'
import type { Limit } from '../../limit/limit.ts'
import type { Verdict } from '../../limit/verdict.ts'
import { sharedClock, type Clock, type Millis } from '../../time/clock.ts'
import type { Check, Counts, SyncStore } from '../store.ts'
import { startSweeping } from './sweeper.ts'
import { Table } from './table.ts'

/** How the memory store may differ from its defaults. */
export interface MemoryStoreOptions {
  /** Most keys at once. Beyond it, keys that are not over their limit make room for new ones. Default 1,000,000. */
  readonly maxKeys?: number
  /** Default: the system's monotonic clock, read once for many decisions while the event loop is busy. */
  readonly clock?: Clock
}

/** What the store has done so far. */
export interface MemoryStoreStats {
  readonly keys: number
  /** Keys forgotten before their time, to make room. */
  readonly evicted: number
  /** Takes that shared their rule's overflow count because every key looked at was over its limit. */
  readonly overflowed: number
}

/** A {@link SyncStore} in this process's memory. */
export interface MemoryStore extends SyncStore {
  stats(): MemoryStoreStats
}

/**
 * Counts in this process's memory. No timer per key: expiry goes along with new keys, and one timer per
 * store gives memory back when there are none.
 *
 * When `maxKeys` are held, a new key takes the place of one that is expired or not over its limit. When
 * every key looked at is over its limit, none is freed: new keys of a rule then share one count.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { maxKeys = 1_000_000, clock = sharedClock() } = options
  if (!Number.isSafeInteger(maxKeys) || maxKeys < 1) {
    throw new SluiceError(
      'invalid-option',
      `maxKeys is ${show(maxKeys)}; accepted: a whole number, 1 or more`,
    )
  }
  if (typeof clock !== 'function') {
    throw new SluiceError(
      'invalid-option',
      `clock is ${show(clock)}; accepted: a function that returns milliseconds`,
    )
  }
  return new Memory(maxKeys, clock)
}

/** Keys per Map at which V8 rehashes it in about a millisecond. */
const KEYS_PER_SHARD = 65_536
/** Slots looked at for expired keys whenever a key is added. */
const LOOKS_PER_ADD = 4
/** Most slots that one tick of the sweeper looks at, and most keys that it forgets: well under 5 ms. */
const LOOKS_PER_TICK = 32_768
const REMOVALS_PER_TICK = 4096

/** Where a key that has no slot goes. */
const NEW = -1
const OVERFLOW = -2

class Memory implements MemoryStore {
  readonly sync = true
  private readonly maxKeys: number
  private readonly clock: Clock
  private readonly shards: number
  private readonly tables = new Map<string, Table>()
  /** The same tables, for taking turns. */
  private readonly turns: Table[] = []
  private readonly stopSweeping: () => void
  private lastSpace: string | undefined
  private lastTable: Table | undefined
  private sweepTurn = 0
  private keys = 0
  private evicted = 0
  private overflowed = 0

  constructor(maxKeys: number, clock: Clock) {
    this.maxKeys = maxKeys
    this.clock = clock
    this.shards = 2 ** Math.ceil(Math.log2(Math.max(1, maxKeys / KEYS_PER_SHARD)))
    this.stopSweeping = startSweeping(this)
  }

  take(checks: readonly Check[]): readonly Verdict[] {
    const now = this.clock()
    return checks.length === 1
      ? [this.takeAlone(checks[0]!, now, checks)]
      : this.takeTogether(checks, now)
  }

  counts(space: string, limit: Limit): Counts | undefined {
    return this.tableFor(space, limit).counts(limit, this.clock)
  }

  peek(checks: readonly Check[]): readonly Verdict[] {
    const now = this.clock()
    return checks.map((check) => {
      const table = this.tableOf(check)
      return peekBy(table.algorithm, check.limit, this.show(table, check, now), check.cost, now)
    })
  }

  give(checks: readonly Check[]): void {
    const now = this.clock()
    for (const { space, key, limit, cost, takenAt = now } of checks) {
      const table = this.tables.get(space)
      const slot = table?.find(key)
      if (table === undefined || slot === undefined) continue
      const { algorithm } = table
      const state = table.load(slot)
      algorithm.take(limit, state, 0, now)
      algorithm.give(limit, state, cost, now, takenAt)
      if (algorithm.fullAt(limit, state, now) <= now) this.remove(table, slot)
      else table.save(slot, state)
    }
  }

  reset(checks: readonly Check[]): void {
    for (const { space, key } of checks) {
      const table = this.tables.get(space)
      const slot = table?.find(key)
      if (table !== undefined && slot !== undefined) this.remove(table, slot)
    }
  }

  close(): void {
    this.stopSweeping()
    for (const table of this.turns) table.clear()
    this.tables.clear()
    this.turns.length = 0
    this.lastSpace = undefined
    this.lastTable = undefined
    this.keys = 0
  }

  stats(): MemoryStoreStats {
    return { keys: this.keys, evicted: this.evicted, overflowed: this.overflowed }
  }

  /** Forgets some expired keys; true when there is reason to go on at once. */
  sweep(): boolean {
    const now = this.clock()
    let looks = LOOKS_PER_TICK
    let removals = REMOVALS_PER_TICK
    // Round robin over the tables, each of which goes on where it stopped.
    for (let i = this.tables.size; i > 0 && looks > 0 && removals > 0; i--) {
      const table = this.nextTable()
      const removed = table.sweep(now, looks, removals)
      this.keys -= removed
      looks -= table.size + 1
      removals -= removed
    }
    return removals <= 0
  }

  private takeAlone(check: Check, now: Millis, checks: readonly Check[]): Taken {
    const table = this.tableOf(check)
    const slot = table.find(check.key) ?? this.placeFor(table, check, 0, now, checks)
    const taken = takeBy(
      table.algorithm,
      check.limit,
      this.load(table, slot, check, now),
      check.cost,
      now,
    )
    if (taken.allowed) {
      if (check.cost > 0) this.save(table, check, slot, taken.next, now)
      return taken
    }
    if (check.countRefused === true) return this.spend(check, now, checks)
    if (slot >= 0) table.refuse(slot, check.limit, now)
    return taken
  }

  private takeTogether(checks: readonly Check[], now: Millis): readonly Verdict[] {
    const tables = checks.map((check) => this.tableOf(check))
    // Of the right length from the start: V8 makes room for seventeen on a first push.
    const takens = new Array<Taken>(checks.length)
    const slots = new Array<number>(checks.length)
    let added = 0
    let allowed = true
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i]!
      const table = tables[i]!
      const twin = twinOf(checks, tables, i)
      const known = twin < 0 ? table.find(check.key) : slots[twin]
      const slot = known ?? this.placeFor(table, check, added, now, checks)
      if (slot === NEW && twin < 0) added += 1
      slots[i] = slot
      const state = stateLeftBy(checks, tables, takens, slots, i)
      const taken = takeBy(
        table.algorithm,
        check.limit,
        state ?? this.load(table, slot, check, now),
        check.cost,
        now,
      )
      takens[i] = taken
      if (!taken.allowed && check.shadow !== true) allowed = false
    }
    if (!allowed) return this.refuse(checks, takens, now)
    this.commit(checks, tables, takens, slots, now)
    return takens
  }

  /** Every check that is not shadow was allowed: charge them, then each shadow check by itself. */
  private commit(
    checks: readonly Check[],
    tables: readonly Table[],
    takens: Taken[],
    slots: readonly number[],
    now: Millis,
  ): void {
    // Adding a key forgets expired ones, which may move or free the slots of the others.
    const isMoving = slots.includes(NEW)
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i]!
      if (check.shadow === true || check.cost === 0) continue
      const table = tables[i]!
      const slot = slots[i]!
      const stays = slot === OVERFLOW || !isMoving
      this.save(table, check, stays ? slot : (table.find(check.key) ?? NEW), takens[i]!.next, now)
    }
    for (let i = 0; i < checks.length; i++) {
      if (checks[i]!.shadow === true) takens[i] = this.takeAlone(checks[i]!, now, checks)
    }
  }

  /** One was refused: none is charged but those that count refusals; the others show what they hold. */
  private refuse(
    checks: readonly Check[],
    takens: readonly Taken[],
    now: Millis,
  ): readonly Verdict[] {
    return checks.map((check, i) => {
      if (check.countRefused === true) return this.spend(check, now, checks)
      const table = this.tableOf(check)
      const slot = table.find(check.key)
      if (slot !== undefined && check.cost > 0) table.refuse(slot, check.limit, now)
      if (!takens[i]!.allowed) return takens[i]!
      return peekBy(table.algorithm, check.limit, this.show(table, check, now), check.cost, now)
    })
  }

  /** Takes the cost of a request that was refused, as far as it goes. */
  private spend(check: Check, now: Millis, checks: readonly Check[]): Taken {
    const table = this.tableOf(check)
    const { algorithm } = table
    const slot = table.find(check.key) ?? this.placeFor(table, check, 0, now, checks)
    const taken = takeBy(
      algorithm,
      check.limit,
      this.load(table, slot, check, now),
      check.cost,
      now,
    )
    if (check.cost === 0) return taken
    const next = { ...taken.next }
    if (!taken.allowed) algorithm.spend(check.limit, next, check.cost, now)
    this.save(table, check, slot, next, now)
    return taken.allowed ? taken : takeBy(algorithm, check.limit, { ...next }, check.cost, now)
  }

  private tableOf(check: Check): Table {
    if (check.space === this.lastSpace) return this.lastTable!
    this.lastTable = this.tableFor(check.space, check.limit)
    this.lastSpace = check.space
    return this.lastTable
  }

  private tableFor(space: string, limit: Limit): Table {
    let table = this.tables.get(space)
    if (table === undefined) {
      table = new Table(limit, this.shards)
      this.tables.set(space, table)
      this.turns.push(table)
    }
    return table
  }

  private load(table: Table, slot: number, check: Check, now: Millis): State {
    if (slot >= 0) return table.load(slot)
    if (slot === OVERFLOW && table.overflow !== undefined) return { ...table.overflow }
    return table.algorithm.fresh(check.limit, now)
  }

  private save(table: Table, check: Check, slot: number, state: State, now: Millis): void {
    table.learn(check.limit)
    if (slot >= 0) {
      table.save(slot, state)
    } else if (slot === OVERFLOW) {
      this.overflowed += 1
      table.overflow = state
    } else {
      const found = table.find(check.key)
      if (found !== undefined) return table.save(found, state)
      this.keys += 1
      table.add(check.key, state, check.limit)
      this.keys -= table.sweep(now, LOOKS_PER_ADD, LOOKS_PER_ADD)
    }
  }

  /** Where a key without a slot goes, when `added` others are about to be added and those of `checks` must stay. */
  private placeFor(
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
    for (const other of this.tables.values()) {
      if (other !== table && this.evictFrom(other, now, checks)) return NEW
    }
    return OVERFLOW
  }

  private evictFrom(table: Table, now: Millis, checks: readonly Check[]): boolean {
    if (!table.evict(now, checks)) return false
    this.keys -= 1
    this.evicted += 1
    return true
  }

  private nextTable(): Table {
    this.sweepTurn = (this.sweepTurn + 1) % this.turns.length
    return this.turns[this.sweepTurn]!
  }

  /** The state to show for a key, which need not be there. */
  private show(table: Table, check: Check, now: Millis): State {
    const slot = table.find(check.key) ?? (this.keys < this.maxKeys ? NEW : OVERFLOW)
    return this.load(table, slot, check, now)
  }

  private remove(table: Table, slot: number): void {
    table.remove(slot)
    this.keys -= 1
  }
}

/** The earlier check of the same call on the same count, -1 when there is none. */
function twinOf(checks: readonly Check[], tables: readonly Table[], i: number): number {
  for (let j = i - 1; j >= 0; j--)
    if (tables[j] === tables[i] && checks[j]!.key === checks[i]!.key) return j
  return -1
}

/** The state that an earlier check of the same call leaves behind for the same count, or the same overflow. */
function stateLeftBy(
  checks: readonly Check[],
  tables: readonly Table[],
  takens: readonly Taken[],
  slots: readonly number[],
  i: number,
): State | undefined {
  const { key, shadow } = checks[i]!
  if (shadow === true) return undefined
  for (let j = i - 1; j >= 0; j--) {
    if (tables[j] !== tables[i] || checks[j]!.shadow === true) continue
    const isSame = checks[j]!.key === key || (slots[i] === OVERFLOW && slots[j] === OVERFLOW)
    if (isSame) return { ...takens[j]!.next }
  }
  return undefined
}
