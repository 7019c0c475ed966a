// Finds the limiter that a request names, for every protocol.
import { RequestError } from '../net/problem.ts'
import type { Limiters, ServiceLimiter } from './limiters.ts'

/** The limiter of a policy, which need not be named when there is only one. */
export function limiterFor(limiters: Limiters, policy: string | undefined): ServiceLimiter {
  const name = policy ?? limiters.only
  if (name === undefined) {
    const detail = `policy is missing; accepted: ${someOf(limiters.names())}`
    throw new RequestError(400, 'invalid-body', detail, 'policy')
  }
  const limiter = limiters.get(name)
  if (limiter === undefined) {
    const detail = `there is no policy of that name; accepted: ${someOf(limiters.names())}`
    throw new RequestError(404, 'unknown-policy', detail, 'policy')
  }
  return limiter
}

/** A few names are a help, thousands are not. */
function someOf(names: readonly string[]): string {
  return names.length <= 10 ? names.join(', ') : `${names.slice(0, 10).join(', ')}, …`
}
