// The store that a budget decides by: holds, with lockouts, pools and the shares of callers, all or none in one call.
import type { Verdict } from '../limit/verdict.ts'
import type { CompiledRule } from '../policy/compile.ts'
import type { HoldStore } from '../stores/holds/hold-store.ts'
import { withLockouts } from '../stores/lockouts.ts'
import { withPools } from '../stores/pools.ts'
import { isPromise, type Check, type MaybePromise, type Store } from '../stores/store.ts'
import { mergeShares, withCallerShares, type SharedCheck } from './caller-shares.ts'

/** A store whose `take` also takes holds, for `decide`. */
export function takingFrom(store: HoldStore, rules: readonly CompiledRule[]): Store {
  const takeHeld = (checks: readonly Check[]): MaybePromise<readonly Verdict[]> => {
    if (store.takeHeld !== undefined) return store.takeHeld(checks)
    const exchanged = store.exchange([], checks)
    return isPromise(exchanged) ? exchanged.then(({ verdicts }) => verdicts) : exchanged.verdicts
  }
  const take = (checks: readonly Check[]): MaybePromise<readonly Verdict[]> => {
    const own = checks as readonly SharedCheck[]
    const all = withCallerShares(own)
    if (all === checks) return takeHeld(checks)
    const verdicts = takeHeld(all)
    return isPromise(verdicts)
      ? verdicts.then((all) => mergeShares(own, all))
      : mergeShares(own, verdicts)
  }
  const taking: Store = {
    ...(store.sync === true ? { sync: true } : {}),
    take,
    peek: (checks) => store.peek(checks),
    refund: (checks) => store.refund(checks),
    reset: (checks) => store.reset(checks),
    close: () => store.close(),
  }
  const locking = rules.some(({ lockout }) => lockout !== null) ? withLockouts(taking) : taking
  return rules.some(({ pools }) => pools !== null) ? withPools(locking) : locking
}
