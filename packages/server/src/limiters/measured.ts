// Wraps a limiter so that each of its decisions is counted, whichever protocol asked for it.
import { SluiceError, type Attributes, type Decision, type MaybePromise, type Millis } from 'sluice'
import type { PolicyMetrics } from '../metrics/decision-metrics.ts'
import { isPromise, type ServiceLimiter } from './limiters.ts'

/** The same limiter, counted. What answered at once still does. */
export function measured(
  limiter: ServiceLimiter,
  policy: PolicyMetrics,
  onStoreError: (code: string) => void,
  onRefused: (decision: Decision, attributes: Attributes | string) => void,
): ServiceLimiter {
  const failed = (error: unknown): never => {
    if (error instanceof SluiceError && error.code.startsWith('store-')) onStoreError(error.code)
    throw error
  }
  const watched = <T>(answer: MaybePromise<T>): MaybePromise<T> =>
    isPromise(answer) ? answer.then(undefined, failed) : answer
  const wrapped = {
    check(attributes: Attributes | string, cost?: number): MaybePromise<Decision> {
      const start = performance.now()
      const answer = limiter.check(attributes, cost)
      if (isPromise(answer)) {
        return answer.then((decision) => {
          policy.note(decision, performance.now() - start)
          if (!decision.allowed) onRefused(decision, attributes)
          return decision
        }, failed)
      }
      policy.note(answer, performance.now() - start)
      if (!answer.allowed) onRefused(answer, attributes)
      return answer
    },
    peek: (attributes: Attributes | string, cost?: number) =>
      watched(limiter.peek(attributes, cost)),
    refund: (attributes: Attributes | string, cost?: number, takenAt?: Millis) =>
      watched<void>(limiter.refund(attributes, cost, takenAt)),
    reset: (attributes: Attributes | string) => watched<void>(limiter.reset(attributes)),
    close: () => limiter.close(),
  }
  return wrapped as ServiceLimiter
}
