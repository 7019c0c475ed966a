// The paths at which proxies ask: one for each kind of proxy.
import type { Config } from '../config/config.ts'
import type { ServiceContext } from '../limiters/limiters.ts'
import type { MountedRoute } from '../net/http-listener.ts'
import { authHandler } from './auth-handler.ts'
import { PROXIES, type ProxyName } from './proxies.ts'

/** The routes `/v1/auth/…`, for the HTTP port. */
export function authRoutes(
  context: Pick<ServiceContext, 'limiters' | 'log'>,
  {
    proxy,
    trustedProxies,
    decisionIdHeader,
  }: Pick<Config, 'proxy' | 'trustedProxies' | 'decisionIdHeader'>,
): readonly MountedRoute[] {
  return (Object.keys(PROXIES) as ProxyName[]).map((name) => ({
    path: `/v1/auth/${name}`,
    createHandler: (reply) =>
      authHandler(name, context, { ...proxy, trustedProxies, decisionIdHeader, ...reply }),
  }))
}
