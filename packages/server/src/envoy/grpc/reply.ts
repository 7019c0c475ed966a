// Ends calls: with a message and its trailers, or with a status alone.
import type { OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { STATUS, statusMessage, type StatusError } from './status.ts'

const HEADERS: OutgoingHttpHeaders = {
  ':status': 200,
  'content-type': 'application/grpc',
}
const TRAILERS: OutgoingHttpHeaders = { 'grpc-status': '0' }
const WITH_TRAILERS = { waitForTrailers: true }

function sendTrailers(this: ServerHttp2Stream): void {
  this.sendTrailers(TRAILERS)
}

/** Sends one framed message and the status OK. */
export function replyMessage(stream: ServerHttp2Stream, frame: Buffer): void {
  if (stream.destroyed || stream.headersSent) return
  stream.respond(HEADERS, WITH_TRAILERS)
  stream.on('wantTrailers', sendTrailers)
  stream.end(frame)
}

/** Opens the answer of a call with several messages; `status` says how it ends. */
export function openReply(stream: ServerHttp2Stream, status: () => StatusError | undefined): void {
  stream.respond(HEADERS, WITH_TRAILERS)
  stream.on('wantTrailers', () => stream.sendTrailers(trailersOf(status())))
}

/** Ends a call with a status and no message. What the caller still sends is not read. */
export function replyStatus(stream: ServerHttp2Stream, error: StatusError): void {
  if (stream.destroyed || stream.headersSent) return
  stream.respond(
    { ...HEADERS, ...trailersOf(error), 'grpc-accept-encoding': 'identity' },
    { endStream: true },
  )
  if (!stream.readableEnded) stream.close()
}

/** Ends what is no gRPC call with a status of HTTP. */
export function replyHttp(stream: ServerHttp2Stream, status: number): void {
  if (stream.destroyed || stream.headersSent) return
  stream.respond({ ':status': status }, { endStream: true })
  if (!stream.readableEnded) stream.close()
}

function trailersOf(error: StatusError | undefined): OutgoingHttpHeaders {
  if (error === undefined) return TRAILERS
  return {
    'grpc-status': String(STATUS[error.status]),
    'grpc-message': statusMessage(error.message),
  }
}
