// Which requests share what was learned about a server: by default, those to one host with one credential.
import { show, SluiceError } from '../errors.ts'
import { sha256 } from '../key/sha256.ts'
import type { HeaderReader } from './hints/quota.ts'
import type { OptionReader } from '../options/option-reader.ts'

/**
 * The URL and headers of a request.
 *
 * @example
 * ```ts
 * const hostOf = ({ url }: RequestTarget): string => new URL(url).host
 * ```
 */
export interface RequestTarget {
  readonly url: string
  readonly headers: HeaderReader
}

/**
 * Which requests share what is learned of a server: all to the same `host`; all to the same host with the same
 * `credential` (Authorization, X-Api-Key or Cookie); or all for which a function returns the same string. A
 * request with an empty key shares nothing.
 *
 * @example
 * ```ts
 * const key: KeyChoice = ({ url }) => new URL(url).pathname
 * polite(fetch, { key })
 * ```
 */
export type KeyChoice = 'host' | 'credential' | ((request: RequestTarget) => string)

/** Reads the option `key`. The returned function gives the key of a request. */
export function keyFor(
  reader: OptionReader,
  choice: KeyChoice = 'credential',
): (request: RequestTarget) => string {
  if (typeof choice === 'function') return (request) => checkKey(choice(request))
  if (choice === 'host') return hostOf
  if (choice === 'credential') return credentialOf
  return reader.wrong('key', choice, "'host', 'credential' or a function that returns a string")
}

/** Without this check all requests with an `undefined` key would share by accident. */
function checkKey(key: unknown): string {
  if (typeof key === 'string') return key
  const accepted = "a string; '' for a request that shares nothing"
  throw new SluiceError('invalid-option', `key returned ${show(key)}; accepted: ${accepted}`)
}

/** An invalid URL shares nothing: fetch itself will reject it. */
function hostOf({ url }: RequestTarget): string {
  return URL.canParse(url) ? new URL(url).host : ''
}

/** Holds a hash of the credential, because keys appear in events and memory dumps. */
function credentialOf(request: RequestTarget): string {
  const { headers } = request
  const secret =
    headers.get('authorization') ?? headers.get('x-api-key') ?? headers.get('cookie') ?? ''
  const host = hostOf(request)
  return secret === '' || host === '' ? host : `${host} ${sha256(secret).slice(0, 16)}`
}
