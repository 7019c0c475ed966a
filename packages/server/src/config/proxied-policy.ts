// Which policy decides about the requests of the reverse proxy.
import type { Config } from './config.ts'

/** The name of that policy; undefined when there is no reverse proxy. */
export function proxiedPolicy({
  listeners: { proxy },
  policies,
}: Pick<Config, 'listeners' | 'policies'>): string | undefined {
  return proxy === undefined ? undefined : (proxy.policy ?? policies[0]?.name)
}
