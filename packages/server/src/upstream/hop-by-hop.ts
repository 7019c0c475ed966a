// Which header fields end at this hop (RFC 9110 section 7.6.1) and are not forwarded.
import { plainName } from '../net/counted-fields.ts'
import { isForwarding } from './forwarded.ts'

/** Fields about one connection, besides those that `Connection` names. */
const ALWAYS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  // Not a field of any standard; programs behind CGI take it for the proxy to use.
  'proxy',
])

/** Fields that `Connection` must not name: without them the message would have another meaning. */
const NEVER: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'authorization',
  'cookie',
  'set-cookie',
  'cache-control',
])

/** Whether a field, by its lower-case name, is about one connection only. */
export function isHopByHop(name: string, named: ReadonlySet<string> | null): boolean {
  return ALWAYS.has(name) || name.startsWith('proxy-') || (named !== null && named.has(name))
}

/** The fields that `Connection` names besides the usual ones, in lower case; null when there are none. */
export function namedByConnection(raw: readonly string[]): ReadonlySet<string> | null {
  let named: Set<string> | null = null
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue
    for (const option of raw[i + 1]!.toLowerCase().split(',')) {
      const field = option.trim()
      if (field !== '' && field !== 'close' && !ALWAYS.has(field)) (named ??= new Set()).add(field)
    }
  }
  return named
}

/** The first field among those named that must not be taken out of a message. */
export function wronglyNamed(
  named: ReadonlySet<string> | null,
  counted: ReadonlySet<string>,
): string | undefined {
  if (named === null) return undefined
  for (const name of named)
    if (NEVER.has(name) || isForwarding(name) || counted.has(plainName(name))) return name
  return undefined
}

/** Fields that must not come after the body: they say how a message is read, or by whom (RFC 9110 section 6.5.1). */
const NOT_IN_TRAILERS: ReadonlySet<string> = new Set([
  ...ALWAYS,
  ...NEVER,
  'trailer',
  'content-range',
  'expect',
  'max-forwards',
  'range',
  'age',
  'date',
  'expires',
  'location',
  'retry-after',
  'vary',
  'forwarded',
])

/** Fields by which applications learn who sent a request, or for which path. */
const IDENTITY: ReadonlySet<string> = new Set([
  'x-real-ip',
  'true-client-ip',
  'x-original-url',
  'x-rewrite-url',
])

/** The trailers that may be forwarded, as pairs: none that changes whom a request counts as, in any spelling. */
export function trailersOf(
  raw: readonly string[],
  counted: ReadonlySet<string> = new Set(),
): [name: string, value: string][] {
  const trailers: [string, string][] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = plainName(raw[i]!)
    const isKept =
      !NOT_IN_TRAILERS.has(name) &&
      !IDENTITY.has(name) &&
      !counted.has(name) &&
      !name.startsWith('proxy-') &&
      !name.startsWith('x-forwarded-')
    if (isKept) trailers.push([raw[i]!, raw[i + 1]!])
  }
  return trailers
}
