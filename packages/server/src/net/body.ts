// Bodies: a request's is read, bounded, as bytes until it is whole, and parsed once; an answer's is written in one call.
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { RequestError, type Problem } from './problem.ts'

const JSON_TYPE = /^application\/json\s*(;|$)/i
const ACCEPTED = 'accepted: content-type application/json, without a content-encoding'

/**
 * Calls `done` with the parsed body, or `failed` with what is wrong with it; neither when the client disconnected.
 * Bodies beyond `maxBytes` are not read to their end. With `anyType` the body may have any content type, or none.
 */
export function readJson(
  request: IncomingMessage,
  maxBytes: number,
  done: (body: unknown) => void,
  failed: (error: RequestError) => void,
  anyType = false,
): void {
  const { headers } = request
  const { 'content-type': type = '', 'content-length': length } = headers
  // A foreign web page could send other content types without a preflight.
  const isJson = anyType || type === 'application/json' || JSON_TYPE.test(type)
  if (!isJson || headers['content-encoding'] !== undefined) {
    failed(new RequestError(415, 'unsupported-media-type', ACCEPTED))
    return
  }
  if (length !== undefined && Number(length) > maxBytes) {
    failed(tooLarge(maxBytes))
    return
  }
  let first: Buffer | undefined
  let rest: Buffer[] | undefined
  let size = 0
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > maxBytes) {
      request.removeAllListeners('data').removeAllListeners('end')
      failed(tooLarge(maxBytes))
    } else if (first === undefined) first = chunk
    else (rest ??= [first]).push(chunk)
  })
  request.on('end', () => {
    let body: unknown
    try {
      body = parsed(rest === undefined ? first : Buffer.concat(rest, size))
    } catch (error) {
      failed(error as RequestError)
      return
    }
    done(body)
  })
}

function parsed(bytes: Buffer | undefined): unknown {
  if (bytes === undefined) throw notJson('it is empty')
  const text = bytes.toString('utf8')
  // Decoding replaces invalid bytes by this character, so that different bytes would become the same key.
  if (text.includes('\uFFFD') && !isUtf8(bytes)) throw notJson('it is not UTF-8')
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw notJson(error instanceof Error ? error.message.slice(0, 200) : 'it does not parse')
  }
}

function notJson(why: string): RequestError {
  return new RequestError(400, 'invalid-body', `the body is not JSON: ${why}`)
}

function tooLarge(maxBytes: number): RequestError {
  return new RequestError(
    413,
    'body-too-large',
    `the body is too large; accepted: at most ${maxBytes} bytes`,
  )
}

const PROBLEM_TYPE = 'application/problem+json'

/** Sends a string with its length; with `closing` the answer is the last of its connection. */
export function sendText(
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  closing: boolean,
): void {
  const length = Buffer.byteLength(text)
  const headers = { 'content-type': type, 'content-length': length, 'cache-control': 'no-store' }
  response.writeHead(status, closing ? { ...headers, connection: 'close' } : headers)
  // Text of one byte for each character is copied as it is.
  response.end(text, length === text.length ? 'latin1' : 'utf8')
}

/** Sends JSON that is already text. */
export function sendJson(
  response: ServerResponse,
  status: number,
  text: string,
  closing: boolean,
): void {
  sendText(response, status, 'application/json', text, closing)
}

/** Sends an error; a 503 carries Retry-After. */
export function sendProblem(response: ServerResponse, problem: Problem, closing: boolean): void {
  const { status } = problem
  if (status === 503) response.setHeader('retry-after', '1')
  // What is left of a body that was not read must not be taken for the next request.
  sendText(response, status, PROBLEM_TYPE, JSON.stringify(problem), closing || status === 413)
}
