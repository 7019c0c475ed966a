// Replies of the proxy itself, also to clients that are still sending.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Problem } from '../net/problem.ts'
import { RawFields } from './fields.ts'

/** How much of an unwanted body is read, and for how long, before the connection is cut. */
const MAX_UNREAD_BYTES = 1_048_576
const MAX_UNREAD_MS = 2000
/** A body up to this size is read to its end, and the connection goes on. */
const SMALL_BODY = 65_536

/** Sends a string with the fields; on a connection that `closes`, or while the request's body still arrives, it is the last answer. */
export function relayAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  fields: RawFields,
  text: string,
  closes: boolean,
): void {
  const lingers = !request.complete && isLarge(request)
  fields.set('Content-Length', String(Buffer.byteLength(text)))
  if (closes || lingers) fields.set('Connection', 'close')
  response.writeHead(status, fields.raw)
  if (!lingers) {
    response.end(text)
    return
  }
  // Closing a connection on which bytes still come makes the client's system drop the answer.
  response.write(text)
  let size = 0
  const end = (): void => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, MAX_UNREAD_MS)
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > MAX_UNREAD_BYTES) end()
  })
  request.once('end', end)
  response.once('close', () => clearTimeout(timer))
}

/** Sends a problem. `fields` are further header fields. */
export function answerProblem(
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
  closes: boolean,
  fields: RawFields = new RawFields(),
): void {
  fields.set('Content-Type', 'application/problem+json')
  fields.set('Cache-Control', 'no-store')
  if (problem.status === 503) fields.set('Retry-After', '1')
  relayAnswer(request, response, problem.status, fields, JSON.stringify(problem), closes)
}

function isLarge({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  if (headers.expect !== undefined) return true
  return length === undefined
    ? headers['transfer-encoding'] !== undefined
    : Number(length) > SMALL_BODY
}
