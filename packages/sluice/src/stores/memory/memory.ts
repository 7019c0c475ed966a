// How the embedded store decides: all checks at one instant, all or none, over tables of counts.
import type { State } from '../../algorithms/algorithm.ts'
import { peekBy, takeBy, type LazyVerdict } from '../../limit/take.ts'
import type { Limit } from '../../limit/limit.ts'
import type { Verdict } from '../../limit/verdict.ts'
import type { Clock, Millis } from '../../time/clock.ts'
import type { Check, FastPath, FastStore, SyncStore, TakeOutput, TakesOne } from '../store.ts'
import { fastCounts } from './fast-counts.ts'
import type { PackedSlots, Room } from './slots.ts'
import { startSweeping } from './sweeper.ts'
import { NEW, OVERFLOW, Tables, type Table } from './tables.ts'

/**
 * What the store has done so far.
 *
 * @example
 * ```ts
 * const { keys, evicted }: MemoryStoreStats = memoryStore().stats()
 * ```
 */
export interface MemoryStoreStats {
  readonly keys: number
  /** Bytes of the keys and their states, about. */
  readonly bytes: number
  /** Keys forgotten before their time, to make room. */
  readonly evicted: number
  /** Takes that shared their rule's overflow count because every key looked at was over its limit. */
  readonly overflowed: number
}

/**
 * A {@link SyncStore} in this process's memory.
 *
 * @example
 * ```ts
 * const store: MemoryStore = memoryStore({ maxKeys: 100_000 })
 * ```
 */
export interface MemoryStore extends SyncStore {
  stats(): MemoryStoreStats
  /**
   * Some keys of one space, expired ones among them: looks at `looks` places from `from` on, which is 0 at first and
   * `next` of the answer before. Keys that stay are seen once; those that come or go meanwhile, perhaps.
   */
  keysOf(space: string, from: number, looks: number): MemoryStoreKeys
}

/**
 * Some keys, and where to go on; undefined at the end.
 *
 * @example
 * ```ts
 * const { keys, next }: MemoryStoreKeys = memoryStore().keysOf(placesOf(policy)[0]!.space, 0, 1000)
 * ```
 */
export interface MemoryStoreKeys {
  readonly keys: readonly string[]
  readonly next: number | undefined
}

/** Checks of one request that must be of different tables to be taken in the shortest way; of more, the slots are compared. */
const FEW_CHECKS = 4
/** A power of two. With far more places than checks, few of them meet at one. */
const SEEN = 1024

/** A {@link MemoryStore}; its options have been checked. */
export class Memory implements MemoryStore, FastStore, TakesOne {
  readonly sync = true
  private readonly clock: Clock
  private readonly tables: Tables
  private readonly stopSweeping: () => void
  /** Whether the last request of several checks was charged. */
  private wasCharged = false
  /** The table and the slot of each check of the request at hand: the same lists for all requests. */
  private readonly tablesOf: Table[] = []
  private readonly slotsOf: number[] = []
  private readonly likelyOf: number[] = []
  /** Which slots the request at hand has, by their last bits. */
  private readonly seen = new Uint8Array(SEEN)

  constructor(room: Room, clock: Clock) {
    this.clock = clock
    this.tables = new Tables(room)
    this.stopSweeping = startSweeping(this)
  }

  take(checks: readonly Check[]): readonly Verdict[] {
    const now = this.clock()
    if (checks.length === 1) return [this.takeAlone(checks[0]!, now, checks)]
    return this.find(checks) ? this.takePlain(checks, now) : this.takeTogether(checks, now)
  }

  /** The instant of a decision made now. */
  now(): Millis {
    return this.clock()
  }

  /**
   * `take` at this instant, as part of a request; `isRefused`: another part of it is refused. Returns the verdicts and
   * whether the request was charged.
   */
  takePart(
    checks: readonly Check[],
    now: Millis,
    isRefused: boolean,
  ): readonly [readonly Verdict[], boolean] {
    if (checks.length === 0) return [[], !isRefused]
    this.find(checks)
    const verdicts = this.takeTogether(checks, now, isRefused)
    return [verdicts, this.wasCharged]
  }

  takeOne(check: Check, output: TakeOutput): boolean | undefined {
    const table = this.tables.of(check)
    if (table.algorithm.words === 0) return undefined
    const slot = table.slots.keys.find(check.key)
    if (slot < 0) return undefined
    table.learn(check.limit, check.slowestQuota)
    output.now = this.clock()
    return (table.slots as PackedSlots).takeOne(slot, table.algorithm, check.limit, output)
  }

  fastPath(space: string, limit: Limit): FastPath | undefined {
    return fastCounts(this.tables.make(space, limit), limit, this.clock)
  }

  peek(checks: readonly Check[]): readonly Verdict[] {
    const now = this.clock()
    return checks.map((check) => this.peekOne(check, now))
  }

  refund(checks: readonly Check[]): void {
    const now = this.clock()
    for (const { space, key, limit, cost, slowestQuota, takenAt = now } of checks) {
      const table = this.tables.get(space)
      const slot = table?.slots.keys.find(key) ?? NEW
      if (table === undefined || slot < 0) continue
      const { algorithm } = table
      const state = table.slots.load(slot)
      algorithm.take(limit, state, 0, now)
      algorithm.refund(limit, state, cost, now, takenAt)
      table.learn(limit, slowestQuota)
      if (table.isNew(state, now)) table.slots.remove(slot)
      else table.slots.save(slot, state)
    }
  }

  reset(checks: readonly Check[]): void {
    for (const { space, key } of checks) {
      const table = this.tables.get(space)
      const slot = table?.slots.keys.find(key) ?? NEW
      if (slot >= 0) table!.slots.remove(slot)
    }
  }

  close(): void {
    this.stopSweeping()
    this.tables.clear()
  }

  stats(): MemoryStoreStats {
    const { room, evicted, overflowed } = this.tables
    return { keys: room.keys, bytes: room.bytes, evicted, overflowed }
  }

  keysOf(space: string, from: number, looks: number): MemoryStoreKeys {
    return this.tables.get(space)?.slots.keysFrom(from, looks) ?? { keys: [], next: undefined }
  }

  sweep(): boolean {
    return this.tables.sweep(this.clock())
  }

  private takeAlone(check: Check, now: Millis, checks: readonly Check[]): LazyVerdict {
    const table = this.tables.of(check)
    const slot = this.slotOf(table, check, now, checks)
    const state = table.load(slot, check.limit, now)
    const taken = takeBy(table.algorithm, check.limit, state, check.cost, now)
    if (taken.allowed) {
      if (check.cost > 0) this.tables.save(table, check, slot, taken.next, now, checks)
      return taken
    }
    if (check.countRefused === true) return this.spend(check, now, checks)
    table.refuse(slot, check, now)
    return taken
  }

  /** The slot of a check's key, or where it goes if it has none. */
  private slotOf(table: Table, check: Check, now: Millis, checks: readonly Check[]): number {
    const slot = table.slots.keys.find(check.key)
    return slot >= 0 ? slot : this.tables.placeFor(table, check, 0, now, checks)
  }

  /**
   * Finds the table and the slot of each check. Returns whether the checks are plain ones of different counts, as they are
   * in most requests. In a large store each step waits for memory, so that it is made for all keys before the next.
   */
  private find(checks: readonly Check[]): boolean {
    const { tablesOf: tables, slotsOf: slots, likelyOf: likely } = this
    if (checks.length > FEW_CHECKS) return this.findMany(checks)
    let arePlain = true
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i]!
      const table = this.tables.of(check)
      for (let j = 0; j < i; j++) if (tables[j] === table) return this.findMany(checks)
      tables[i] = table
      slots[i] = table.slots.keys.recall(check.key)
      if (!isPlain(check)) arePlain = false
    }
    for (let i = 0; i < checks.length; i++)
      if (slots[i]! < 0) likely[i] = tables[i]!.slots.keys.likely()
    for (let i = 0; i < checks.length; i++)
      if (slots[i]! < 0 && likely[i]! >= 0) slots[i] = tables[i]!.slots.keys.confirm(likely[i]!)
    return arePlain
  }

  /** The same of checks that may be of one table, if all are there: then their slots differ, and keys need not be compared. */
  private findMany(checks: readonly Check[]): boolean {
    const { tablesOf: tables, slotsOf: slots, seen } = this
    seen.fill(0)
    let arePlain = true
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i]!
      const table = this.tables.of(check)
      const slot = table.slots.keys.find(check.key)
      tables[i] = table
      slots[i] = slot
      const place = slot & (SEEN - 1)
      if (seen[place] !== 0)
        for (let j = 0; j < i; j++) if (slots[j] === slot && tables[j] === table) arePlain = false
      seen[place] = 1
      if (slot < 0 || !isPlain(check)) arePlain = false
    }
    return arePlain
  }

  /** Takes plain checks of different counts, all or none, from the slots that were found. */
  private takePlain(checks: readonly Check[], now: Millis): readonly Verdict[] {
    const { tablesOf: tables, slotsOf: slots } = this
    // Of the right length from the start: V8 makes room for seventeen on a first push.
    const takens = new Array<LazyVerdict>(checks.length)
    let added = 0
    let allowed = true
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i]!
      const table = tables[i]!
      if (slots[i]! < 0) slots[i] = this.tables.placeFor(table, check, added, now, checks)
      if (slots[i] === NEW) added += 1
      const state = table.load(slots[i]!, check.limit, now)
      const taken = takeBy(table.algorithm, check.limit, state, check.cost, now)
      takens[i] = taken
      if (!taken.allowed) allowed = false
    }
    if (!allowed) return this.refuse(checks, takens, now)
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i]!
      if (check.cost > 0)
        this.tables.save(tables[i]!, check, slots[i]!, takens[i]!.next, now, checks)
    }
    return takens
  }

  /** Takes checks of any kind from the slots that were found: twins, pools, lockouts, shadow rules. */
  private takeTogether(
    checks: readonly Check[],
    now: Millis,
    isRefused = false,
  ): readonly Verdict[] {
    const { tablesOf: tables, slotsOf: slots } = this
    const takens = new Array<LazyVerdict>(checks.length)
    let added = 0
    let allowed = !isRefused
    let isPaid = false
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i]!
      const table = tables[i]!
      if (check.isPool !== true) isPaid = false
      else if (isPaid) {
        // A pool behind one that pays is only looked at.
        if (slots[i]! < 0) slots[i] = OVERFLOW
        takens[i] = this.peekOne(check, now)
        continue
      }
      const twin = twinOf(checks, tables, i)
      if (twin >= 0) slots[i] = slots[twin]!
      // A lockout's count is stored only when it counts.
      else if (slots[i]! < 0 && check.countsRefusals !== true)
        slots[i] = this.tables.placeFor(table, check, added, now, checks)
      if (slots[i] === NEW && twin < 0) added += 1
      const state =
        stateLeftBy(checks, tables, takens, slots, i) ?? table.load(slots[i]!, check.limit, now)
      const taken = takeBy(table.algorithm, check.limit, state, check.cost, now)
      takens[i] = taken
      if (taken.allowed) isPaid = true
      else if (check.shadow !== true && checks[i + 1]?.isPool !== true) allowed = false
    }
    this.wasCharged = allowed
    if (!allowed) return this.refuse(checks, takens, now)
    this.commit(checks, tables, takens, slots, now)
    return takens
  }

  /** What a check would be answered; nothing is taken. */
  private peekOne(check: Check, now: Millis): LazyVerdict {
    const table = this.tables.of(check)
    const state = this.tables.show(table, check, now)
    return peekBy(table.algorithm, check.limit, state, check.cost, now)
  }

  /** Every check that is not shadow was allowed: charge them, then each shadow check by itself. */
  private commit(
    checks: readonly Check[],
    tables: readonly Table[],
    takens: LazyVerdict[],
    slots: readonly number[],
    now: Millis,
  ): void {
    // Adding a key forgets expired ones, which may move or free the slots of the others.
    const isMoving = slots.lastIndexOf(NEW, checks.length - 1) >= 0
    let isPaid = false
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i]!
      if (check.isPool !== true) isPaid = false
      // Of a check and its pools, the first that has room pays.
      if (isPaid || (!takens[i]!.allowed && check.shadow !== true)) continue
      isPaid = true
      if (check.shadow === true || check.cost === 0 || check.countsRefusals === true) continue
      const table = tables[i]!
      const slot = slots[i]!
      const stays = slot === OVERFLOW || !isMoving
      this.tables.save(
        table,
        check,
        stays ? slot : table.slots.keys.find(check.key),
        takens[i]!.next,
        now,
        checks,
      )
    }
    for (let i = 0; i < checks.length; i++) {
      if (checks[i]!.shadow === true) takens[i] = this.takeAlone(checks[i]!, now, checks)
    }
  }

  /** One was refused: none is charged but those that count refusals; the others show what they hold. */
  private refuse(
    checks: readonly Check[],
    takens: readonly LazyVerdict[],
    now: Millis,
  ): readonly Verdict[] {
    return checks.map((check, i) => {
      if (check.countRefused === true) {
        const own = this.spend(check, now, checks)
        // Alone it fits: it was refused for what an earlier check of this request asked of the same count.
        return own.allowed && !takens[i]!.allowed ? takens[i]! : own
      }
      if (check.candidate === true) return this.takeAlone(check, now, checks)
      if (check.countsRefusals === true && takens[i]!.allowed && takens[i - 1]?.allowed === false)
        return this.countRefusal(check, now, checks)
      const table = this.tables.of(check)
      const slot = table.slots.keys.find(check.key)
      if (check.cost > 0) table.refuse(slot >= 0 ? slot : OVERFLOW, check, now)
      if (!takens[i]!.allowed) return takens[i]!
      return this.peekOne(check, now)
    })
  }

  /** Counts a refusal for a lockout, which the verdict shows. */
  private countRefusal(check: Check, now: Millis, checks: readonly Check[]): LazyVerdict {
    const table = this.tables.of(check)
    const { algorithm } = table
    const slot = this.slotOf(table, check, now, checks)
    const state = { ...table.load(slot, check.limit, now) }
    algorithm.take(check.limit, state, 0, now)
    if (check.cost > 0) {
      algorithm.spend(check.limit, state, 1, now)
      this.tables.save(table, check, slot, { ...state }, now, checks)
    }
    return peekBy(algorithm, check.limit, state, check.cost, now)
  }

  /** Takes the cost of a request that was refused, as far as it goes. */
  private spend(check: Check, now: Millis, checks: readonly Check[]): LazyVerdict {
    const table = this.tables.of(check)
    const { algorithm } = table
    const slot = this.slotOf(table, check, now, checks)
    const state = table.load(slot, check.limit, now)
    const taken = takeBy(algorithm, check.limit, state, check.cost, now)
    if (check.cost === 0) return taken
    const next = { ...taken.next }
    if (!taken.allowed) algorithm.spend(check.limit, next, check.cost, now)
    this.tables.save(table, check, slot, next, now, checks)
    return taken.allowed ? taken : takeBy(algorithm, check.limit, { ...next }, check.cost, now)
  }
}

/** Whether a check is taken or refused together with the others, and with nothing else. */
function isPlain({ shadow, isPool, countsRefusals }: Check): boolean {
  return shadow !== true && isPool !== true && countsRefusals !== true
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
  takens: readonly LazyVerdict[],
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
