// Makes the limiter of a policy: one decider, with the surroundings that all decisions of the service have.
import { createLimiter, type Policy } from 'sluice'
import { decideOptions, type DecisionSurroundings } from './decide-options.ts'
import type { MakeLimiter } from './registry.ts'

/** How limiters are made for as long as the service runs. */
export function limiterMaker(surroundings: DecisionSurroundings): MakeLimiter {
  return (policy: Policy) => {
    const { store, blocked, onDecision, identify } = decideOptions(policy, surroundings)
    return createLimiter({
      policy,
      store,
      ...(blocked && { blocked }),
      ...(onDecision && { onDecision }),
      ...(identify && { identify }),
    })
  }
}
