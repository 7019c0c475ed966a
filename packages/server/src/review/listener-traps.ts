// Traps of listeners: who can reach the service, who can read its traffic, and which proxies it trusts.
import { clientAddress } from 'sluice/http'
import type { Config, ListenerConfig } from '../config/config.ts'
import type { Trap } from './warning.ts'

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/

/** What other machines can do to the listeners. */
export function trapsOfListeners({ listeners }: Config): readonly Trap[] {
  return Object.entries(listeners).flatMap(([name, listener]) =>
    listener === undefined ? [] : trapsOf(name, listener as ListenerConfig),
  )
}

/** Networks of trusted proxies that clients are in. */
export function trapsOfTrust({ trustedProxies }: Config): readonly Trap[] {
  return trustedProxies.flatMap((network, i) => {
    let isTooWide = false
    clientAddress({ trustedProxies: [network] }, ({ code }) => {
      if (code === 'trust-too-wide') isTooWide = true
    })
    if (!isTooWide) return []
    const message = `trustedProxies has ${network}, a network that clients are in: they can write any address into X-Forwarded-For, and so choose whose count is charged; list the networks of your proxies alone`
    return [{ code: 'trust-too-wide' as const, steps: ['trustedProxies', i], message }]
  })
}

function trapsOf(name: string, { host, tls }: ListenerConfig): readonly Trap[] {
  // The reverse proxy is there to be reached.
  if (LOOPBACK.test(host) || name === 'proxy') return []
  const steps = ['listeners', name, 'host']
  if (name === 'admin') {
    if (tls !== undefined) return []
    const message = `admin listens on ${host} without TLS: anyone on the network path can read the token and use it; give it tls, or keep it on 127.0.0.1`
    return [{ code: 'plain-admin', steps, message }]
  }
  if (tls?.ca !== undefined && tls.clients !== 'optional') return []
  const message = `${name} listens on ${host}: anyone who reaches the port can spend and reset the units of every caller; keep it behind a firewall or on 127.0.0.1, or ask for certificates of clients (tls.ca)`
  return [{ code: 'open-listener', steps, message }]
}
