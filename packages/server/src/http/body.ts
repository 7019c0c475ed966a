// Reads a request's body: bounded, as bytes until it is whole, and parsed once.
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { RequestError } from './problem.ts'

/**
 * Calls `done` with the parsed body, or `failed` with what is wrong with it; neither when the client went away.
 * Bodies beyond `maxBytes` are not read to their end.
 */
export function readJson(
  request: IncomingMessage,
  maxBytes: number,
  done: (body: unknown) => void,
  failed: (error: RequestError) => void,
): void {
  const { headers } = request
  if (!isJson(headers['content-type']) || headers['content-encoding'] !== undefined) {
    failed(
      new RequestError(
        415,
        'unsupported-media-type',
        'accepted: content-type application/json, without a content-encoding',
      ),
    )
    return
  }
  if (Number(headers['content-length'] ?? 0) > maxBytes) {
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
    const bytes = rest === undefined ? first : Buffer.concat(rest, size)
    let body: unknown
    try {
      body = parsed(bytes)
    } catch (error) {
      failed(error as RequestError)
      return
    }
    done(body)
  })
}

function parsed(bytes: Buffer | undefined): unknown {
  if (bytes === undefined) throw notJson('it is empty')
  // Otherwise different bytes would become the same key.
  if (!isUtf8(bytes)) throw notJson('it is not UTF-8')
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown
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

/** Anything else could be sent by a foreign web page without asking first. */
function isJson(type: string | undefined): boolean {
  if (type === 'application/json') return true
  return type !== undefined && /^application\/json\s*(;|$)/i.test(type)
}
