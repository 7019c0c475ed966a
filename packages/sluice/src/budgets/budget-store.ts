// The store of a budget: takes holds, lockouts, pools and the shares of callers in one call, all or none.
import type { Verdict } from '../limit/verdict.ts'
import type { CompiledRule } from '../policy/compile.ts'
import type { HoldStore } from '../stores/holds/hold-store.ts'
import { withLockouts } from '../stores/lockouts.ts'
import { withPools } from '../stores/pools.ts'
import type { TakesHeldThen } from '../stores/holds/mapped-holds.ts'
import {
  isPromise,
  type Check,
  type MaybePromise,
  type Store,
  type TakesThen,
} from '../stores/store.ts'
import { mergeShares, withCallerShares, type SharedCheck } from './caller-shares.ts'

/** A store whose `take` also takes holds, for `decide`. */
export function budgetStore(store: HoldStore, rules: readonly CompiledRule[]): Store {
  const takeHeld = (checks: readonly Check[]): MaybePromise<readonly Verdict[]> => {
    if (store.takeHeld !== undefined) return store.takeHeld(checks)
    const exchanged = store.exchange([], checks)
    return isPromise(exchanged) ? exchanged.then(({ verdicts }) => verdicts) : exchanged.verdicts
  }
  const mapping = 'takeHeldThen' in store ? (store as HoldStore & TakesHeldThen) : undefined
  const takeThen: TakesThen['takeThen'] = (checks, finish) => {
    const own = checks as readonly SharedCheck[]
    const all = withCallerShares(own)
    const merged =
      all === checks ? finish : (verdicts: readonly Verdict[]) => finish(mergeShares(own, verdicts))
    if (mapping !== undefined) return mapping.takeHeldThen(all, merged)
    const verdicts = takeHeld(all)
    return isPromise(verdicts) ? verdicts.then(merged) : merged(verdicts)
  }
  const taking: Store & TakesThen = {
    ...(store.sync === true ? { sync: true } : {}),
    take: (checks) => takeThen(checks, (verdicts) => verdicts),
    takeThen,
    peek: (checks) => store.peek(checks),
    refund: (checks) => store.refund(checks),
    reset: (checks) => store.reset(checks),
    close: () => store.close(),
  }
  const locking = rules.some(({ lockout }) => lockout !== null) ? withLockouts(taking) : taking
  return rules.some(({ pools }) => pools !== null) ? withPools(locking) : locking
}
