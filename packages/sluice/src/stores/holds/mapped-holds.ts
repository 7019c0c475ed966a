// Reservations and settlements whose answer goes through a function: one promise for each, where every layer would add another.
import type { Verdict } from '../../limit/verdict.ts'
import type { TakeReceiver } from '../mapped-takes.ts'
import { isPromise, type Check, type MaybePromise } from '../store.ts'
import type { HoldStore, Settled, Settlement } from './hold-store.ts'

const NONE: readonly never[] = []

/** What a store of holds offers to a store around it. */
export interface MappedHolds extends MappedSettlements {
  /** `takeHeld` that resolves with what the receiver makes of the verdicts or of an error. */
  takeHeldWith<T>(
    checks: readonly Check[],
    receiver: TakeReceiver<T>,
  ): readonly Verdict[] | Promise<T>
}

/** `exchange` of settlements alone, whose answer goes through one of two functions. */
export interface MappedSettlements {
  settleWith<T>(
    settlements: readonly Settlement[],
    passed: (settled: readonly Settled[]) => MaybePromise<T>,
    failed: (error: unknown) => MaybePromise<T>,
  ): MaybePromise<T>
}

/** A store of holds that always answers, for a budget. */
export interface TakesHeldThen {
  /** What `finish` makes of the verdicts of `takeHeld`. */
  takeHeldThen<T>(
    checks: readonly Check[],
    finish: (verdicts: readonly Verdict[]) => T,
  ): MaybePromise<T>
}

/** The mapped settlements of any store. */
export function mappedSettlements(store: HoldStore): MappedSettlements {
  if ('settleWith' in store) return store as unknown as MappedSettlements
  return {
    settleWith(settlements, passed, failed) {
      const exchanged = store.exchange(settlements, NONE)
      return isPromise(exchanged)
        ? exchanged.then(({ settled }) => passed(settled), failed)
        : passed(exchanged.settled)
    },
  }
}
