// The guard of every limiter in force: the same attributes, routes and header fields for every protocol that reads requests.
import type { Attributes } from 'sluice'
import { createRequestGuard, type RequestGuard, type FrameworkAdapter } from 'sluice/http'
import type { ProxyConfig } from '../config/config.ts'
import type { ServiceLimiter } from './limiters.ts'
import type { Log } from '../log/log.ts'

/** What guards depend on besides the limiter. */
export interface GuardOptions extends ProxyConfig {
  /** The header field that carries the id of a refusal. */
  readonly decisionIdHeader?: string | undefined
  readonly trustedProxies: readonly string[]
}

/** Returns a limiter's guard; it lives as long as the limiter is in force. `proxy` is a name for the log. */
export function guardsOver<Q extends object, S>(
  port: FrameworkAdapter<Q, S>,
  {
    attributes,
    routes,
    headers,
    trustedProxies,
    ipv6Prefix,
    countPreflights,
    ambiguousPaths,
    decisionIdHeader,
  }: GuardOptions,
  log: Log,
  proxy: string,
): (limiter: ServiceLimiter) => RequestGuard<Q, S> {
  const { apiKey, ...fields } = attributes
  const names = Object.entries(fields)
  const others = (request: Q): Attributes => {
    const read: Record<string, string> = {}
    for (const [name, field] of names) {
      const value = port.header(request, field)
      // A field that is not sent must not undo what is known of the request, such as its address.
      if (value !== undefined) read[name] = value
    }
    return read
  }
  const guards = new WeakMap<ServiceLimiter, RequestGuard<Q, S>>()
  return (limiter) => {
    let guard = guards.get(limiter)
    if (guard === undefined) {
      guard = createRequestGuard(port, limiter, {
        address: { ipv6Prefix, ...(trustedProxies.length > 0 && { trustedProxies }) },
        routes,
        headers,
        countPreflights,
        ambiguousPaths,
        ...(decisionIdHeader !== undefined && { decisionIdHeader }),
        // A secret, of which only the hash goes on.
        ...(apiKey === undefined ? {} : { apiKey: (request) => port.header(request, apiKey) }),
        ...(names.length === 0 ? {} : { attributes: others }),
        onWarning: ({ code, message, help }) => log.warn({ code, proxy, help }, message),
      })
      guards.set(limiter, guard)
    }
    return guard
  }
}
