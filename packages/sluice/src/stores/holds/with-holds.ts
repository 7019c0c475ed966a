// A store around the memory store: adds counts with units out to its plain counts, decided together at one instant.
import { show, SluiceError } from '../../errors.ts'
import type { Verdict } from '../../limit/verdict.ts'
import { algorithmOf } from '../../algorithms/table.ts'
import type { Millis } from '../../time/clock.ts'
import {
  Memory,
  type MemoryStore,
  type MemoryStoreKeys,
  type MemoryStoreStats,
} from '../memory/memory.ts'
import type { Check } from '../store.ts'
import { HeldCounts } from './held-counts.ts'
import { fitsHeld, settleHeld } from './held-count.ts'
import { HeldVerdict, numbersOf, settledOf } from './held-verdict.ts'
import type { Exchanged, Settled, Settlement, SyncHoldStore } from './hold-store.ts'
import { HeldTake } from './held-take.ts'

/**
 * A memory store that also keeps holds.
 *
 * @example
 * ```ts
 * const store: MemoryHoldStore = withHolds(memoryStore())
 * ```
 */
export interface MemoryHoldStore extends MemoryStore, SyncHoldStore {
  readonly sync: true
}

/** Stores around one memory store share its holds. */
const known = new WeakMap<MemoryStore, MemoryHoldStore>()

/**
 * A memory store that also keeps holds; several calls for one store return the same.
 *
 * @example
 * ```ts
 * const store = withHolds(memoryStore())
 * ```
 */
export function withHolds(store: MemoryStore): MemoryHoldStore {
  if (!(store instanceof Memory))
    throw new SluiceError(
      'invalid-option',
      `withHolds: store is ${show(store)}; accepted: a store of memoryStore(); a store of redisStore() keeps holds itself`,
    )
  let made = known.get(store)
  if (made === undefined) {
    made = new MemoryWithHolds(store)
    known.set(store, made)
  }
  return made
}

class MemoryWithHolds implements MemoryHoldStore {
  readonly sync = true
  private readonly memory: Memory
  private readonly held = new HeldCounts()

  constructor(memory: Memory) {
    this.memory = memory
  }

  exchange(settlements: readonly Settlement[], checks: readonly Check[]): Exchanged {
    const now = this.memory.now()
    this.held.sweep(now)
    const settled = settlements.map((settlement) => this.settle(settlement, now))
    if (checks.length === 0) return { settled, verdicts: [] }
    const take = new HeldTake(this.held, checks, now)
    const plain = checks.filter(({ holds }) => holds !== true)
    const [plainVerdicts, isCharged] = this.memory.takePart(plain, now, !take.isAllowed)
    const heldVerdicts = take.finish(isCharged)
    return { settled, verdicts: merged(checks, plainVerdicts, heldVerdicts) }
  }

  take(checks: readonly Check[]): readonly Verdict[] {
    return checks.some(({ holds }) => holds === true)
      ? this.exchange([], checks).verdicts
      : this.memory.take(checks)
  }

  peek(checks: readonly Check[]): readonly Verdict[] {
    const plain = this.memory.peek(checks.filter(({ holds }) => holds !== true))
    const now = this.memory.now()
    const held = checks.filter(({ holds }) => holds === true)
    const verdicts = held.map((check) => {
      const { limit, cost } = check
      const { count, own } = this.held.open(check, now)
      return new HeldVerdict(limit, count, cost, now, fitsHeld(limit, count, cost, own), 'memory')
    })
    return merged(checks, plain, verdicts)
  }

  refund(checks: readonly Check[]): void {
    this.memory.refund(checks.filter(({ holds }) => holds !== true))
    const now = this.memory.now()
    for (const check of checks) {
      const { hold } = check
      if (check.holds !== true) continue
      if (hold !== undefined) this.settle({ ...check, id: hold.id, spent: 0, keep: 0 }, now)
      else this.refundUnits(check, now)
    }
  }

  reset(checks: readonly Check[]): void {
    this.memory.reset(checks.filter(({ holds }) => holds !== true))
    for (const check of checks) if (check.holds === true) this.held.delete(check)
  }

  close(): void {
    this.held.clear()
    this.memory.close()
  }

  stats(): MemoryStoreStats {
    const { keys, ...rest } = this.memory.stats()
    return { keys: keys + this.held.size, ...rest }
  }

  keysOf(space: string, from: number, looks: number): MemoryStoreKeys {
    return this.memory.keysOf(space, from, looks)
  }

  private settle(settlement: Settlement, now: Millis): Settled {
    const { limit, spent } = settlement
    const { count, own, isChanged } = this.held.open(settlement, now)
    const booked = settleHeld(limit, count, settlement, own)
    const isBooked = booked.status === 'settled' || booked.status === 'late'
    if (isBooked || isChanged) this.held.save(settlement, count, now)
    return settledOf(limit, numbersOf(count), booked, spent, now)
  }

  /** Hands back units that were spent without a hold. */
  private refundUnits(check: Check, now: Millis): void {
    const { limit, cost, takenAt = now } = check
    const { count, own } = this.held.open(check, now)
    algorithmOf(limit).refund(limit, count.state, cost, own, takenAt)
    this.held.save(check, count, now)
  }
}

/** The verdicts of both kinds, in the order of the checks. */
function merged(
  checks: readonly Check[],
  plain: readonly Verdict[],
  held: readonly Verdict[],
): readonly Verdict[] {
  let nextPlain = 0
  let nextHeld = 0
  return checks.map(({ holds }) => (holds === true ? held[nextHeld++]! : plain[nextPlain++]!))
}
