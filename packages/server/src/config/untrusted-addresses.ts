// Finds rules by address where no proxy is trusted: all clients of a proxy then share its address, or may claim any other.
import type { Config } from './config.ts'
import type { ConfigRemark } from './problem.ts'

const ADDRESSES = ['ip', 'address', 'clientip', 'remoteaddress', 'remoteaddr']

/** A remark for each rule by address. None are to be made where the file itself says `trustedProxies: []`. */
export function untrustedAddresses(
  config: Pick<Config, 'policies' | 'trustedProxies' | 'listeners'>,
): readonly ConfigRemark[] {
  if (config.trustedProxies.length > 0) return []
  return config.policies.flatMap(({ rules }, p) =>
    rules.flatMap((rule, r) =>
      rule.by.flatMap((attribute, i): ConfigRemark[] => {
        if (!ADDRESSES.includes(attribute.toLowerCase().replaceAll(/[^a-z]/g, ''))) return []
        // Envoy itself finds the address, and sends it under this name.
        if (attribute === 'remote_address' && config.listeners.grpc !== undefined) return []
        const message = `rule ${rule.name} counts by ${attribute}, and no proxy is trusted: behind one, all clients share its address, or any client may claim another; list the proxies' networks in trustedProxies, or write trustedProxies: [] if there are none`
        const steps = ['policies', p, 'rules', r, 'by', i]
        return [{ code: 'untrusted-address', steps, message }]
      }),
    ),
  )
}
