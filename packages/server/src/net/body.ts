// Reads a request's body: bounded, as bytes until it is whole, and parsed once.
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { RequestError } from './problem.ts'

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
  const wrong = headerProblem(request.headers, maxBytes, anyType)
  if (wrong !== undefined) {
    failed(wrong)
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

/** What is wrong with the headers of a body. A foreign web page could send other content types without a preflight. */
function headerProblem(
  headers: IncomingHttpHeaders,
  maxBytes: number,
  anyType: boolean,
): RequestError | undefined {
  const { 'content-type': type = '', 'content-length': length } = headers
  const isJson = type === 'application/json' || /^application\/json\s*(;|$)/i.test(type)
  if ((!isJson && !anyType) || headers['content-encoding'] !== undefined) {
    const accepted = 'accepted: content-type application/json, without a content-encoding'
    return new RequestError(415, 'unsupported-media-type', accepted)
  }
  return length !== undefined && Number(length) > maxBytes ? tooLarge(maxBytes) : undefined
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
