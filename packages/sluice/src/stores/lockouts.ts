// A store whose checks may lock keys out: each such check becomes two, decided together, and its verdict one again.
import type { Verdict } from '../limit/verdict.ts'
import { expandingStore } from './expanding-store.ts'
import type { Check, Store } from './store.ts'

/** Decides lockouts together with their rules, all or none, in one call to the store. Other checks pass through. */
export function withLockouts(store: Store): Store {
  return expandingStore(store, {
    applies: ({ lockout }) => lockout !== undefined,
    expand: withLock,
    merge: merged,
  })
}

/** A check, followed by that of its lockout if it has one. */
function withLock(check: Check): readonly Check[] {
  const { key, cost, lockout, onStoreFailure } = check
  if (lockout === undefined) return [check]
  const { space, limit } = lockout
  const lock: Check = { space, key, limit, cost: Math.min(cost, 1), countsRefusals: true }
  return [check, onStoreFailure === undefined ? lock : { ...lock, onStoreFailure }]
}

function merged(checks: readonly Check[], verdicts: readonly Verdict[]): readonly Verdict[] {
  let next = 0
  return checks.map(({ lockout }) => {
    const own = verdicts[next++]!
    if (lockout === undefined) return own
    const lock = verdicts[next++]!
    // If the store is unreachable, the rule's own verdict holds.
    return lock.allowed || lock.source === 'closed' ? own : lockedOut(own, lock)
  })
}

/** The refusal of a key that is locked out. */
function lockedOut(own: Verdict, lock: Verdict): Verdict {
  const wait = lock.retryAfter ?? 0
  const { at, source, cause, appliedLimit } = own
  return {
    allowed: false,
    remaining: 0,
    retryAfter: own.retryAfter === null ? null : Math.max(own.retryAfter, wait),
    resetAfter: Math.max(own.resetAfter, wait),
    availableAfter: Math.max(own.availableAfter, wait),
    delay: 0,
    at,
    source,
    ...(cause !== undefined && { cause }),
    ...(appliedLimit !== undefined && { appliedLimit }),
    lockedOut: true,
  }
}
