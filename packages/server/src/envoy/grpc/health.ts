// grpc.health.v1: whether this server, or one of its services, accepts traffic.
import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import type { Health } from '../../health/health.ts'
import { WireReader } from '../wire/reader.ts'
import { FRAME_HEADER, FrameReader, sealed } from './frames.ts'
import { openReply, replyStatus } from './reply.ts'
import type { StreamMethod, UnaryMethod } from './server.ts'
import { StatusError, statusErrorOf } from './status.ts'

const CHECK = '/grpc.health.v1.Health/Check'
const WATCH = '/grpc.health.v1.Health/Watch'

const SERVING = 1
const NOT_SERVING = 2
const SERVICE_UNKNOWN = 3

const MAX_NAME = 1024
/** Watch calls at once, of all connections and of one. */
const MAX_WATCHERS = 1000
const MAX_WATCHERS_PER_CONNECTION = 8
/** Unread bytes of a watcher that does not read. */
const MAX_UNREAD = 1024

/** The methods of the health service. `services` are the names that it reports, besides ''. */
export function healthMethods(
  health: Health,
  services: readonly string[],
): { readonly unary: [string, UnaryMethod]; readonly stream: [string, StreamMethod] } {
  const known = new Set(['', ...services])
  const watchers = new Set<ServerHttp2Stream>()
  const bySession = new WeakMap<Http2Session, number>()
  const add = (stream: ServerHttp2Stream, session: Http2Session): void => {
    const others = bySession.get(session) ?? 0
    if (watchers.size >= MAX_WATCHERS || others >= MAX_WATCHERS_PER_CONNECTION)
      throw new StatusError('RESOURCE_EXHAUSTED', 'there are too many Watch calls already')
    bySession.set(session, others + 1)
    watchers.add(stream)
    stream.on('close', () => {
      bySession.set(session, (bySession.get(session) ?? 1) - 1)
      watchers.delete(stream)
    })
  }
  const statusNow = (): number => (health.state === 'serving' ? SERVING : NOT_SERVING)
  health.onChange(() => {
    for (const stream of watchers) {
      if (stream.writableLength > MAX_UNREAD) stream.close(constants.NGHTTP2_CANCEL)
      else stream.write(replyOf(statusNow()))
    }
  })

  const check: UnaryMethod = (message) => {
    const service = serviceOf(message)
    if (!known.has(service)) throw new StatusError('NOT_FOUND', `there is no service ${service}`)
    return replyOf(statusNow())
  }

  const watch: StreamMethod = (stream, onMessage) => {
    const frames = new FrameReader(MAX_NAME)
    const onData = (chunk: Buffer): void => {
      try {
        const [message] = frames.push(chunk)
        if (message === undefined) return
        stream.off('data', onData).resume()
        const isKnown = known.has(serviceOf(message))
        // The session is gone when the stream is destroyed; then there is nothing to answer.
        if (stream.session === undefined) return
        add(stream, stream.session)
        onMessage()
        openReply(stream, () => undefined)
        stream.write(replyOf(isKnown ? statusNow() : SERVICE_UNKNOWN))
      } catch (error) {
        replyStatus(stream, statusErrorOf(error))
      }
    }
    stream.on('data', onData)
  }
  return { unary: [CHECK, check], stream: [WATCH, watch] }
}

/** `service` of a HealthCheckRequest. */
function serviceOf(message: Buffer): string {
  const reader = new WireReader(message)
  let service = ''
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === 10) service = reader.text()
    else reader.skip(tag)
  }
  return service
}

/** A HealthCheckResponse in its frame. */
function replyOf(status: number): Buffer {
  const frame = Buffer.alloc(FRAME_HEADER + 2)
  frame[FRAME_HEADER] = 8
  frame[FRAME_HEADER + 1] = status
  return sealed(frame)
}
