// A store whose checks may draw from several pools: each such check becomes one per pool, and its verdict one again.
import type { PlacedPool } from '../limit/placed-limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import { expandingStore } from './expanding-store.ts'
import type { Check, Store } from './store.ts'

/** Decides pools together with the other rules, all or none, in one call to the store. Other checks pass through. */
export function withPools(store: Store): Store {
  return expandingStore(store, {
    applies: ({ pools }) => pools !== undefined,
    expand: withOwnPools,
    merge: merged,
  })
}

/** A check, followed by one for each of its pools. */
function withOwnPools(check: Check): readonly Check[] {
  const { key, cost, onStoreFailure, pools = [] } = check
  const drawn = pools.map(({ space, limit }): Check => {
    const pool: Check = { space, key, limit, cost, isPool: true }
    return onStoreFailure === undefined ? pool : { ...pool, onStoreFailure }
  })
  return [check, ...drawn]
}

/** The check whose pool paid: `refund` hands the units back there. Undefined when the check has no such pool. */
export function poolCheck(check: Check, name: string): Check | undefined {
  const pool = check.pools?.find((one) => one.name === name)
  if (pool === undefined) return undefined
  const { space, limit } = pool
  return { ...check, space, limit, slowestQuota: undefined, pools: undefined }
}

function merged(checks: readonly Check[], verdicts: readonly Verdict[]): readonly Verdict[] {
  let next = 0
  return checks.map(({ pools = [] }) => {
    const own = verdicts[next]!
    const all = verdicts.slice(next, next + 1 + pools.length)
    next += all.length
    const paying = all.findIndex(({ allowed }) => allowed)
    if (paying === 0 || pools.length === 0) return own
    if (paying > 0)
      return { ...poolVerdict(all[paying]!, pools[paying - 1]!), pool: pools[paying - 1]!.name }
    const soonest = all.reduce((a, b) => (waitOf(b) < waitOf(a) ? b : a))
    return soonest === own ? own : poolVerdict(soonest, pools[all.indexOf(soonest) - 1]!)
  })
}

function waitOf({ retryAfter }: Verdict): number {
  return retryAfter ?? Infinity
}

/** The verdict of a pool as that of the rule. */
function poolVerdict(verdict: Verdict, { limit }: PlacedPool): Verdict {
  const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source } = verdict
  const { cause, appliedLimit = limit } = verdict
  const waits = { retryAfter, resetAfter, availableAfter, delay }
  return {
    allowed,
    remaining,
    ...waits,
    at,
    source,
    ...(cause !== undefined && { cause }),
    appliedLimit,
  }
}

/**
 * Which checks of a take were charged, if it was allowed as a whole; undefined when it was refused. Of a check and its
 * pools, the first that allows pays.
 */
export function chargedBy(
  checks: readonly Check[],
  verdicts: readonly Verdict[],
): readonly boolean[] | undefined {
  let isPaid = false
  let isEnforced = false
  const charged: boolean[] = []
  for (const [i, { shadow, isPool }] of checks.entries()) {
    if (isPool !== true) {
      if (isEnforced && !isPaid) return undefined
      isPaid = false
      isEnforced = shadow !== true
    }
    charged[i] = !isPaid && verdicts[i]!.allowed
    if (charged[i] === true) isPaid = true
  }
  return isEnforced && !isPaid ? undefined : charged
}
