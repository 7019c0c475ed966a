// Reads the head of a request before anything is done with it: what two servers could understand in two ways is refused.
import type { IncomingMessage } from 'node:http'
import { refuseDoubled } from '../net/counted-fields.ts'
import { RequestError } from '../net/problem.ts'
import { namedByConnection, wronglyNamed } from './hop-by-hop.ts'

/** What is to be known of a request to hand it on. */
export interface Asked {
  /** Path and query, or `*`. */
  readonly target: string
  /** What the client calls this server; undefined from clients of HTTP/1.0 that do not say. */
  readonly host: string | undefined
  readonly body: 'none' | 'sized' | 'chunked'
  /** Whether the body only comes when somebody asks for it. */
  readonly expects: boolean
  /** Whether the client takes trailers. */
  readonly takesTrailers: boolean
  /** Fields that `Connection` names beside the usual ones. */
  readonly named: ReadonlySet<string> | null
}

/** An authority without user information. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i

/**
 * Reads a request that Node's parser took. The parser has refused lengths that contradict each other and folded
 * lines; here go what it takes and other servers read otherwise. `counted` are the fields by which requests are
 * counted: a second line of one would let a client be counted as somebody else than it is served as.
 * Throws a `RequestError`.
 */
export function readAsked(request: IncomingMessage, counted: ReadonlySet<string>): Asked {
  const { rawHeaders: raw } = request
  let host: string | undefined
  let body: Asked['body'] = 'none'
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
