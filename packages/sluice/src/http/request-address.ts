// The client's address of a framework's request, by the option `address`.
import { show } from '../errors.ts'
import { addressReader, type Address } from './client-address.ts'
import { lastEntry } from './forwarded.ts'
import type { FrameworkAdapter } from './framework-adapter.ts'
import { wrong, type AddressFunction, type HttpOptions } from './options.ts'
import type { Warn } from './warnings.ts'

/** Requests after which proxies are no longer looked for. */
const MAX_LOOKS = 1000

/** Creates the function that finds the client's address. Throws `invalid-option`. */
export function requestAddresses<Q, S>(
  adapter: FrameworkAdapter<Q, S>,
  { address = {} }: HttpOptions<Q, S>,
  warn: Warn,
): (request: Q) => Address {
  if (typeof address === 'string') {
    const own = adapter.addressBy?.[address]
    if (own === undefined) {
      const names = Object.keys(adapter.addressBy ?? {}).map((name) => `'${name}'`)
      throw wrong(
        `address is ${show(address)}; accepted: ${[...names, 'an object such as { trustedProxies }', 'a function of the request'].join(', ')}`,
      )
    }
    return byFunction(adapter, trustNarrowly(adapter, own, address, warn), warn)
  }
  if (typeof address === 'function') return byFunction(adapter, address, warn)
  const reader = addressReader(address, warn)
  const { header, parsed } = reader
  if (header !== null)
    return (request) => reader.of(adapter.peerAddress(request), adapter.header(request, header))
  let looks = MAX_LOOKS
  return (request) => {
    if (looks > 0) {
      looks -= 1
      if (
        adapter.header(request, 'x-forwarded-for') !== undefined ||
        adapter.header(request, 'forwarded') !== undefined
      ) {
        looks = 0
        warn(
          'proxy-header-ignored',
          () =>
            'a request came through a proxy, but no proxy is trusted, so all clients of the proxy count as one; name it in address.trustedProxies',
        )
      }
    }
    return parsed(adapter.peerAddress(request) ?? '')
  }
}

/** Looks at the framework's own proxy setting with the first request, and reports one that trusts clients. */
function trustNarrowly<Q, S>(
  { trustsAll }: FrameworkAdapter<Q, S>,
  own: (request: Q) => string | undefined,
  name: string,
  warn: Warn,
): (request: Q) => string | undefined {
  let isKnown = trustsAll === undefined
  return (request) => {
    if (!isKnown) {
      isKnown = true
      if (isTrue(() => trustsAll!(request)))
        warn(
          'trust-too-wide',
          () =>
            `address is '${name}', and its proxy setting trusts everybody, so clients choose their address by X-Forwarded-For; name the proxies there, or use address: { trustedProxies }`,
        )
    }
    return own(request)
  }
}

/** Reading the internals of another library must not fail a request. */
function isTrue(look: () => boolean | undefined): boolean {
  try {
    return look() === true
  } catch {
    return false
  }
}

function byFunction<Q, S>(
  adapter: FrameworkAdapter<Q, S>,
  find: AddressFunction<Q>,
  warn: Warn,
): (request: Q) => Address {
  const { parsed } = addressReader({}, warn)
  const lastOf = (list: string): string => {
    warn(
      'address-list',
      () =>
        'address returned a list, of which clients can write all but the last entry; the last one is used. Name the proxies in address: { trustedProxies } to read further',
    )
    return lastEntry(list)
  }
  return (request) => {
    const found: unknown = find(request) ?? undefined
    if (found === undefined) return parsed('')
    const isList = Array.isArray(found) && found.every((entry) => typeof entry === 'string')
    if (typeof found !== 'string' && !isList)
      throw wrong(
        `address returned ${show(found)}; accepted: a string, a list of strings, or nothing`,
      )
    const value = isList ? found.join(',') : (found as string)
    const named = parsed(value.includes(',') ? lastOf(value) : value)
    // A client that can send such a string must not go uncounted: its peer's address counts.
    return named.ip === undefined ? parsed(adapter.peerAddress(request) ?? '') : named
  }
}
