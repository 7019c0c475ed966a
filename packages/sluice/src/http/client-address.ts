// The client's address: the peer's, or the one that trusted proxies name.
import { show } from '../errors.ts'
import { holds, parseAddress } from '../policy/network.ts'
import { embeddedIpv4, networkString } from './address-string.ts'
import { entryBefore } from './forwarded.ts'
import { isTooWide, trustOf, type Trust, type TrustedProxies } from './trusted-proxies.ts'
import { OptionReader } from '../options/option-reader.ts'
import { memoizeRecent } from './memoize-recent.ts'
import { warnOnce, type HttpWarning, type Warn } from './warnings.ts'

/**
 * How the client's address is found.
 *
 * @example
 * ```ts
 * rateLimit({ limit: '100/min', address: { trustedProxies: ['10.0.0.0/8'] } })
 * ```
 */
export interface AddressOptions {
  /** Default: none, so the address is the peer's. */
  readonly trustedProxies?: TrustedProxies
  /** The one field that the trusted proxies write. Default: `x-forwarded-for`. */
  readonly header?: string
  /** The bits of an IPv6 address that name a client, 32 to 128. Default: 56, what a site gets. */
  readonly ipv6Prefix?: number
  /** The bits of an IPv4 address that name a client, 8 to 32. Default: 32. */
  readonly ipv4Prefix?: number
}

/**
 * Where a request comes from. Both are first addresses of networks, so that policies can compare them.
 *
 * @example
 * ```ts
 * const { ip, network }: Address = clientAddress().of('203.0.113.7')
 * ```
 */
export interface Address {
  /** What names the client: an IPv4 address, or the /56 of an IPv6 address. Undefined when there is no address. */
  readonly ip: string | undefined
  /** The wider network for a second, looser rule: /24 or /48. */
  readonly network: string | undefined
}

/**
 * Finds the client's address.
 *
 * @example
 * ```ts
 * const address: ClientAddress = clientAddress({ trustedProxies: 'loopback' })
 * const { ip } = address.of('127.0.0.1', '203.0.113.7')
 * ```
 */
export interface ClientAddress {
  /** The field to hand to `of`, in lower case; null when no proxy is trusted. */
  readonly header: string | null
  /** The address for a peer and the value of the field. */
  of(peer: string | undefined, forwarded?: string): Address
}

/** An address and whether it is a trusted proxy's. */
interface Known extends Address {
  readonly trusted: boolean
}

const UNKNOWN: Known = { ip: undefined, network: undefined, trusted: false }

/**
 * Makes a reader of addresses. Work on an address is done once, as long as it comes back.
 *
 * @example
 * ```ts
 * const addresses = clientAddress({ trustedProxies: ['10.0.0.0/8'] })
 * const { ip } = addresses.of('2001:db8::1')
 * ```
 */
export function clientAddress(
  options: AddressOptions = {},
  onWarning?: (warning: HttpWarning) => void,
): ClientAddress {
  return addressReader(options, warnOnce(onWarning))
}

/** Reads addresses for adapters. */
export interface AddressReader extends ClientAddress {
  /** The address that a string is; without an `ip` if it is none, such as the empty string. */
  readonly parsed: (string: string) => Address
}

/** {@link clientAddress} that shares its warnings with others. */
export function addressReader(options: AddressOptions, warn: Warn): AddressReader {
  const reader = new OptionReader('address', options, ADDRESS_OPTIONS, ACCEPTED)
  const trust = trustOf(options.trustedProxies, reader)
  const ipv6Bits = reader.number('ipv6Prefix', options.ipv6Prefix, 56, IPV6_PREFIX)
  const ipv4Bits = reader.number('ipv4Prefix', options.ipv4Prefix, 32, IPV4_PREFIX)
  const header = headerOf(options, trust, reader)
  if (trust !== null) warnOfTrust(trust, warn)

  const known = memoizeRecent((text: string): Known => {
    const own = parseAddress(text)
    if (own === undefined) return UNKNOWN
    const bytes = embeddedIpv4(own) ?? own
    return {
      ip: networkString(bytes, ipv4Bits, ipv6Bits),
      network: networkString(bytes, Math.min(24, ipv4Bits), Math.min(48, ipv6Bits)),
      trusted: trust !== null && trust.networks.some((network) => holds(network, own)),
    }
  })

  /** The entry that the trusted proxies wrote about the client; undefined when it is no address. */
  const named = (trust: Trust, field: string): Known | undefined => {
    let chosen: Known | undefined
    let hops = 0
    for (let end = field.length; end > 0;) {
      const entry = entryBefore(header as string, field, end)
      if (entry === undefined) break
      chosen = known(entry.address)
      hops += 1
      if (trust.hops > 0 ? hops === trust.hops : !chosen.trusted) break
      end = entry.rest
    }
    if (hops < trust.hops)
      warn(
        'fewer-hops',
        () =>
          `${header} names ${hops} of ${trust.hops} hops; clients may reach this server without passing the proxies`,
      )
    return chosen?.ip === undefined ? undefined : chosen
  }

  return {
    header,
    parsed: known,
    of(peer, field) {
      const direct = known(peer ?? '')
      if (trust === null) return direct
      const isProxy = direct.trusted || trust.hops > 0 || (direct.ip === undefined && trust.unix)
      if (!isProxy) {
        if (field !== undefined)
          warn(
            'peer-not-trusted',
            () =>
              `${show(peer)} sends ${header} but is not among trustedProxies; its own address is used`,
          )
        return direct
      }
      if (field === undefined) {
        warn(
          'proxy-header-missing',
          () => `the trusted proxy ${show(peer)} sends no ${header}; all its clients count as one`,
        )
        return direct
      }
      return named(trust, field) ?? direct
    },
  }
}

const ADDRESS_OPTIONS = ['trustedProxies', 'header', 'ipv6Prefix', 'ipv4Prefix']

const ACCEPTED =
  "accepted: an object such as { trustedProxies: 'loopback' }, or in rateLimit a function of the request"
const IPV6_PREFIX = { least: 32, most: 128, whole: true }
const IPV4_PREFIX = { least: 8, most: 32, whole: true }

function headerOf(
  { header }: AddressOptions,
  trust: Trust | null,
  reader: OptionReader,
): string | null {
  if (header !== undefined && (typeof header !== 'string' || !/^[\w-]+$/.test(header)))
    reader.wrong('header', header, 'the name of a request field, such as x-forwarded-for')
  if (header !== undefined && trust === null)
    reader.wrong('header', header, 'none without trustedProxies, since any client can send a field')
  return trust === null ? null : (header ?? 'x-forwarded-for').toLowerCase()
}

function warnOfTrust(trust: Trust, warn: Warn): void {
  if (trust.networks.some(isTooWide))
    warn(
      'trust-too-wide',
      () =>
        'trustedProxies holds a network that clients are in; they can choose the address that they are counted by',
    )
  if (trust.hops > 0)
    warn(
      'hop-count',
      () =>
        `trustedProxies counts ${trust.hops} hops; a client that reaches this server without passing the proxies chooses the address that it is counted by`,
    )
}
