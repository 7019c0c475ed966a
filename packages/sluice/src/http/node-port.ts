// How Node's requests and responses are read and written; other frameworks on Node lend theirs.
import type { Guard } from './guard.ts'
import { hold } from './hold.ts'
import type { Passage } from './passage.ts'
import type { Port } from './port.ts'

/** What is used of Node's `IncomingMessage`. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** What is used of Node's `ServerResponse`. */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  readonly closed: boolean
  getHeader(name: string): number | string | readonly string[] | undefined
  setHeader(name: string, value: string): unknown
  end(body?: string): unknown
  once(event: 'close', listener: () => void): unknown
  removeListener(event: 'close', listener: () => void): unknown
}

/** Reads and writes through Node's own objects. */
export const nodePort: Port<NodeRequest, NodeResponse> = {
  peer: (request) => request.socket.remoteAddress,
  header: (request, name) => text(request.headers[name]),
  method: (request) => request.method ?? 'GET',
  path: (request) => request.url ?? '/',
  route: () => undefined,
  routesLate: true,
  get: (response, name) => text(response.getHeader(name)),
  set: (response, name, value) => void response.setHeader(name, value),
}

/** A field's value as one text. */
export function text(value: number | string | readonly string[] | undefined): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : value.join(', ')
}

/** Sends the refusal, or goes on: now, or after the delay unless the client goes away. */
export function proceed<Q extends object, S extends NodeResponse>(
  guard: Guard<Q, S>,
  passage: Passage,
  request: Q,
  response: S,
  next: () => void,
): void {
  if (passage.refusal !== null) {
    sendRefusal(passage.refusal, response)
    return
  }
  if (guard.hasAfter)
    onAnswered(response, () => guard.answered(passage, response.statusCode, request, response))
  if (passage.delay === 0) next()
  else holdUntilClosed(passage.delay, response, next)
}

/** Holds a request; nothing goes on when the client goes away meanwhile. */
export function holdUntilClosed(delay: number, response: NodeResponse, next: () => void): void {
  if (response.closed) return
  const cancel = hold(delay, () => {
    response.removeListener('close', cancel)
    next()
  })
  response.once('close', cancel)
}

/** Calls back when the response is over, unless the client had no answer. */
export function onAnswered(response: NodeResponse, then: () => void): void {
  response.once('close', () => {
    if (response.headersSent) then()
  })
}

function sendRefusal(refusal: NonNullable<Passage['refusal']>, response: NodeResponse): void {
  // Somebody has answered already; there is nothing left to say.
  if (response.headersSent) return
  response.statusCode = refusal.status
  for (const [name, value] of refusal.fields) response.setHeader(name, value)
  response.end(refusal.body)
}
