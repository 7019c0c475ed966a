// Which header fields are forwarded: of the request to the upstream, of its response to the client.
import type { IncomingMessage } from 'node:http'
import type { RequestHead } from './request-head.ts'
import { RawFields } from './fields.ts'
import { addForwarding, isForwarding } from './forwarded.ts'
import { isHopByHop, namedByConnection } from './hop-by-hop.ts'

/** How requests are forwarded. */
export interface HeadOptions {
  /** The upstream's own name, which stands in `Host` unless the client's is kept. */
  readonly authority: string
  readonly keepHost: boolean
  /** The name of this proxy in `Via`; null leaves the field out. */
  readonly via: string | null
}

const MARKED = 'X-RateLimit-Marked'

/** Tells the upstream which soft limits a request is over, as `writeLimits` tells the client. */
export function addMark(fields: RawFields, writeLimits: (fields: RawFields) => void): void {
  const limits = new RawFields()
  writeLimits(limits)
  const marked = limits.get(MARKED)
  if (marked !== undefined) fields.add(MARKED, marked)
}

/** The fields for the upstream; those that name the client are forwarded only from a trusted peer. */
export function requestFields(
  request: IncomingMessage,
  head: RequestHead,
  isTrusted: boolean,
  { authority, keepHost, via }: HeadOptions,
): RawFields {
  const { rawHeaders: raw, httpVersion } = request
  const fields = new RawFields(['Host', keepHost ? (head.host ?? authority) : authority])
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase()
    if (name === 'host' || isHopByHop(name, head.named)) continue
    if (name === 'expect' && !head.expects) continue
    if (name === 'trailer' && head.body !== 'chunked') continue
    if (!isTrusted && isForwarding(name)) continue
    fields.add(raw[i]!, raw[i + 1]!)
  }
  addForwarding(fields, request, head.host)
  if (via !== null) addVia(fields, httpVersion, via)
  if (head.body === 'chunked') fields.add('Transfer-Encoding', 'chunked')
  // Without it Node would announce a body.
  else if (head.body === 'none' && fields.get('Content-Length') === undefined && !isBare(request))
    fields.add('Content-Length', '0')
  return fields
}

/** Whether requests of the method usually have no body. */
function isBare({ method = 'GET' }: IncomingMessage): boolean {
  return ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'].includes(method)
}

/** The fields for the client; `keepsTrailer` says whether trailers can follow. */
export function responseFields(
  { rawHeaders: raw, httpVersion }: IncomingMessage,
  keepsTrailer: boolean,
  via: string | null,
): RawFields {
  const named = namedByConnection(raw)
  const fields = new RawFields()
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase()
    if (isHopByHop(name, named) || (name === 'trailer' && !keepsTrailer)) continue
    fields.add(raw[i]!, raw[i + 1]!)
  }
  if (via !== null) addVia(fields, httpVersion, via)
  return fields
}

/**
 * The reason phrase for the client, or '' for the usual one: Node's parser takes control characters in a phrase, its
 * writer throws at them. Clients ignore the phrase (RFC 9112 section 4).
 */
export function reasonOf({ statusMessage = '' }: IncomingMessage): string {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(statusMessage) ? statusMessage : ''
}

function addVia(fields: RawFields, httpVersion: string, name: string): void {
  const earlier = fields.get('Via')
  const own = `${httpVersion} ${name}`
  fields.set('Via', earlier === undefined ? own : `${earlier}, ${own}`)
}
