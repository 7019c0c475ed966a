// Makes the limiter of a policy, with the store and the observers that all decisions of the service share.
import {
  createLimiter,
  type LimiterWarning,
  type MemoryStore,
  type Policy,
  type Store,
} from 'sluice'
import { createBudget, withHolds } from 'sluice/budgets'
import { countedBudget } from './counted-budget.ts'
import { decideOptions, type DecisionSurroundings } from './decide-options.ts'
import type { MakeLimiter } from './registry.ts'

/** Skipped rules are logged from the metrics, and durations by the review of the file. */
const LOGGED_ELSEWHERE: readonly LimiterWarning['code'][] = ['rule-skipped', 'bare-duration']

/** How limiters are made for as long as the service runs. */
export function limiterMaker(surroundings: DecisionSurroundings): MakeLimiter {
  return (policy: Policy) => {
    const { store, blocked, blockedBy, onDecision, isTimed, identify, onSettled } = decideOptions(
      policy,
      surroundings,
    )
    const decideFields = {
      ...(blocked && { blocked }),
      ...(blockedBy && { blockedBy }),
      ...(onDecision && { onDecision }),
      ...(isTimed && { isTimed }),
      ...(identify && { identify }),
    }
    const onWarning = (warning: LimiterWarning): void => {
      if (!LOGGED_ELSEWHERE.includes(warning.code)) surroundings.onWarning?.(policy.name, warning)
    }
    const limiterOptions = { ...decideFields, onWarning }
    if (!policy.rules.some(({ hold }) => hold !== undefined))
      return createLimiter({ policy, store, ...limiterOptions })
    const holdStore = withHoldsIfMemory(store)
    const limiter = createLimiter({ policy, store: holdStore, ...limiterOptions })
    const budget = createBudget({
      policy,
      store: holdStore,
      ...decideFields,
      ...(onSettled && { onSettled }),
    })
    const hasSlots = policy.rules.some(({ concurrency }) => concurrency !== undefined)
    return Object.assign(limiter, { budget: countedBudget(budget, surroundings.held), hasSlots })
  }
}

/** The store with holds: one in this process needs a store around it, a remote one keeps them itself. */
function withHoldsIfMemory(store: Store): Store {
  return store.sync === true && !('exchange' in store) ? withHolds(store as MemoryStore) : store
}
