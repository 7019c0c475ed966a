// What the environment, and `--upstream`, may say about the reverse proxy.
import type { ProxyListenerConfig } from './config.ts'
import { proxyListener } from './shape/proxy-listener.ts'
import type { Unread, Variable } from './variable.ts'

/** The upstream switches the proxy on; without one the others mean nothing. */
export const PROXY_VARIABLES: readonly Variable[] = [
  {
    name: 'SLUICE_PROXY_UPSTREAM',
    field: 'listeners.proxy.upstream',
    accepted: "a URL such as 'http://127.0.0.1:3000', without a path",
    apply: (config, upstream) => withProxy(config, { upstream }),
  },
  {
    name: 'SLUICE_PROXY_HOST',
    field: 'listeners.proxy.host',
    accepted: "an address to listen on, such as '0.0.0.0'",
    apply: (config, host) =>
      config.listeners.proxy === undefined ? config : withProxy(config, { host }),
  },
  {
    name: 'SLUICE_PROXY_PORT',
    field: 'listeners.proxy.port',
    accepted: 'a whole number from 0 to 65535',
    apply: (config, value) => {
      if (!/^\d{1,5}$/.test(value)) return undefined
      const port = Number(value)
      return config.listeners.proxy === undefined ? config : withProxy(config, { port })
    },
  },
]

/** The shape fills in defaults and checks the rest. */
function withProxy<C extends Unread>(config: C, said: Partial<ProxyListenerConfig>): C | undefined {
  const { listeners } = config
  const { success, data } = proxyListener.safeParse({ ...listeners.proxy, ...said })
  return success ? { ...config, listeners: { ...listeners, proxy: data } } : undefined
}
