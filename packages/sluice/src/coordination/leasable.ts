// Which checks can be spent from leases.
import { canBeLeased, canBeSynced, type Limit } from '../limit/limit.ts'
import type { Check } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'

/** Whether units of the check's count may be leased. */
export function isCoordinated({ coordination, candidate, holds }: Check): boolean {
  if (candidate === true || holds === true) return false
  return coordination === 'leased' || coordination === 'auto'
}

/** Whether the store can lease units of the count. Else each request asks the store. */
export function isLeasable(check: Check): boolean {
  const { limit, cost, countRefused } = check
  return (
    isCoordinated(check) &&
    cost > 0 &&
    countRefused !== true &&
    limit.quota > 0 &&
    canBeLeased(check.limit)
  )
}

/** The check as the store takes it: marked as one of a count with leases, if it is. */
export function heldCheck(check: Check, leaseLife?: Millis): Check {
  return isCoordinated(check) && canBeLeased(check.limit)
    ? { ...check, holds: true, leaseLife }
    : check
}

/** Whether each process counts the check itself, and the store adds the counts up. */
export function isSynced({ coordination, candidate, holds, countRefused, limit }: Check): boolean {
  if (coordination !== 'synced' || candidate === true || holds === true) return false
  return countRefused !== true && limit.quota > 0 && canBeSynced(limit)
}

/** Whether a count has this limit. */
export function hasSameLimit({ limit }: { readonly limit: Limit }, other: Limit): boolean {
  return limit === other || (limit.quota === other.quota && limit.burst === other.burst)
}
