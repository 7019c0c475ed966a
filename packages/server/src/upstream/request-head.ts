// Reads the head of a request first, and refuses what two servers could read in two ways.
import type { IncomingMessage } from 'node:http'
import { refuseDoubled } from '../net/counted-fields.ts'
import { RequestError } from '../net/problem.ts'
import { namedByConnection, wronglyNamed } from './hop-by-hop.ts'

/** What forwarding needs to know of a request. */
export interface RequestHead {
  /** Path and query, or `*`. */
  readonly target: string
  /** The client's name for this server; undefined from clients of HTTP/1.0 without `Host`. */
  readonly host: string | undefined
  readonly body: 'none' | 'sized' | 'chunked'
  /** Whether the client waits for `100 Continue` before it sends the body. */
  readonly expects: boolean
  /** Whether the client accepts trailers. */
  readonly takesTrailers: boolean
  /** Fields that `Connection` names besides the usual ones. */
  readonly named: ReadonlySet<string> | null
}

/** An authority without user information. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i

/**
 * Reads a request that Node's parser accepted. The parser has refused contradicting lengths and folded lines. This
 * refuses what the parser accepts and other servers read differently. `counted` are the fields by which requests are
 * counted: a second line of one would count the client as one caller and serve it as another.
 * Throws a `RequestError`.
 */
export function readRequestHead(
  request: IncomingMessage,
  counted: ReadonlySet<string>,
): RequestHead {
  const { rawHeaders: raw } = request
  let host: string | undefined
  let body: RequestHead['body'] = 'none'
  let expects = false
  let takesTrailers = false
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase()
    const value = raw[i + 1]!
    switch (name) {
      case 'host':
        if (host !== undefined) throw wrong('host', 'there are two Host fields')
        if (!HOST.test(value)) throw wrong('host', 'Host is not the name of a server')
        host = value
        break
      case 'content-length':
        if (body === 'none' && value !== '0') body = 'sized'
        break
      case 'transfer-encoding':
        body = chunkedOnly(value, request.httpVersionMinor)
        break
      case 'expect':
        expects = value.toLowerCase() === '100-continue'
        break
      case 'te':
        takesTrailers ||= /(?:^|,)[ \t]*trailers[ \t]*(?:,|$)/i.test(value)
        break
    }
  }
  refuseDoubled(raw, counted)
  const named = namedByConnection(raw)
  const taken = wronglyNamed(named, counted)
  if (taken !== undefined) throw wrong('connection', `Connection must not name ${taken}`)
  const { target, authority } = targetOf(request)
  const known = { body, expects: expects && body !== 'none', takesTrailers, named }
  return { target, host: authority ?? host, ...known }
}

function chunkedOnly(value: string, minor: number): 'chunked' {
  if (value.toLowerCase() !== 'chunked')
    throw new RequestError(
      501,
      'unsupported-transfer-encoding',
      'accepted: chunked',
      'transfer-encoding',
    )
  if (minor === 0) throw wrong('transfer-encoding', 'HTTP/1.0 has no Transfer-Encoding')
  return 'chunked'
}

/** The target in origin form, and the authority where the client sent an absolute one. */
function targetOf({ url = '/', method }: IncomingMessage): { target: string; authority?: string } {
  if (url.includes('#') || url.includes('\\')) throw wrongTarget()
  if (url.startsWith('/')) return { target: url }
  if (url === '*' && method === 'OPTIONS') return { target: url }
  const [, authority, rest = ''] = /^https?:\/\/([^/?]+)(.*)$/i.exec(url) ?? []
  if (authority === undefined || !HOST.test(authority)) throw wrongTarget()
  return { target: rest.startsWith('/') ? rest : `/${rest}`, authority }
}

function wrongTarget(): RequestError {
  return new RequestError(400, 'invalid-target', 'the target of the request is not a path')
}

function wrong(field: string, detail: string): RequestError {
  return new RequestError(400, 'invalid-field', detail, field)
}
