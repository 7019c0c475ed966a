// Answers that are this server's own, also to clients that are still sending.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Problem } from '../net/problem.ts'
import { Fields } from './fields.ts'

/** Most bytes of a body that nobody wants, and how long it may come, before the connection is cut. */
const MOST_UNWANTED = 1_048_576
const LONGEST_UNWANTED = 2000
/** A body up to this size is read to its end, and the connection goes on. */
const SMALL = 65_536

/** Sends a text with the fields; on a connection that `closes`, or with a body on its way, it is the last answer. */
export function answer(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  fields: Fields,
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
  // Closing a connection on which bytes still come makes the client's system throw the answer away.
  response.write(text)
  let size = 0
  const end = (): void => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, LONGEST_UNWANTED)
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > MOST_UNWANTED) end()
  })
  request.once('end', end)
  response.once('close', () => clearTimeout(timer))
}

/** Sends a problem. `fields` may hold what else is to be said. */
export function answerProblem(
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
  closes: boolean,
  fields: Fields = new Fields(),
): void {
  fields.set('Content-Type', 'application/problem+json')
  fields.set('Cache-Control', 'no-store')
  if (problem.status === 503) fields.set('Retry-After', '1')
  answer(request, response, problem.status, fields, JSON.stringify(problem), closes)
}

function isLarge({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  if (headers.expect !== undefined) return true
  return length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) > SMALL
}
