// Which proxies are trusted to name the client.
import type { OptionReader } from '../options/option-reader.ts'
import { parseNetwork, type Network } from '../policy/network.ts'

/**
 * A name for networks that many set-ups share.
 *
 * @example
 * ```ts
 * const trusted: ProxyPreset[] = ['loopback', 'private']
 * ```
 */
export type ProxyPreset = 'loopback' | 'link-local' | 'private' | 'unix'

/**
 * Who may name the client: networks such as `10.0.0.0/8` and presets, or, when their addresses are not known,
 * a number of proxies that every request is sure to pass.
 *
 * @example
 * ```ts
 * const proxies: TrustedProxies[] = ['private', ['10.0.0.0/8', 'loopback'], { hops: 1 }]
 * ```
 */
export type TrustedProxies = string | readonly string[] | { readonly hops: number }

/** Trusted proxies, parsed. */
export interface Trust {
  readonly networks: readonly Network[]
  /** A peer without an address is a proxy on this machine. */
  readonly unix: boolean
  /** Instead of networks: how many proxies there are. 0 when networks decide. */
  readonly hops: number
}

const PRESETS: Readonly<Record<ProxyPreset, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
  unix: [],
}

const ACCEPTED = `networks such as 10.0.0.0/8, ${Object.keys(PRESETS).join(', ')}, a list of these, or { hops: 1 }`

/** What the option says. Throws `invalid-option`. */
export function trustOf(proxies: TrustedProxies | undefined, reader: OptionReader): Trust | null {
  if (proxies === undefined) return null
  const wrong = (value: unknown): never =>
    reader.wrong('trustedProxies', value, ACCEPTED, Object.keys(PRESETS))
  const networkOf = (text: string): Network => parseNetwork(text) ?? wrong(text)
  if (typeof proxies === 'object' && proxies !== null && !Array.isArray(proxies)) {
    const { hops } = proxies as { hops: number }
    if (!Number.isSafeInteger(hops) || hops < 1 || hops > 100) return wrong(proxies)
    return { networks: [], unix: true, hops }
  }
  const list = typeof proxies === 'string' ? [proxies] : (proxies as readonly unknown[])
  if (!Array.isArray(list) || list.length === 0) return wrong(proxies)
  const networks = list.flatMap((entry) => {
    if (typeof entry !== 'string') return wrong(entry)
    if (Object.hasOwn(PRESETS, entry)) return PRESETS[entry as ProxyPreset].map(networkOf)
    return networkOf(entry)
  })
  return { networks, unix: list.includes('unix'), hops: 0 }
}

/** The widest network of trusted proxies that is accepted; a wider one would trust unknown clients. */
export function isTooWide({ bytes, bits }: Network): boolean {
  return bits < (bytes.length === 4 ? 8 : 7)
}
