// grpc.health.v1: whether this server, or one of its services, wants traffic.
import type { ServerHttp2Stream } from 'node:http2'
import type { Health } from '../../service/health.ts'
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

const LARGEST_NAME = 1024
/** Watchers that are told of changes; more than these are asked to come back. */
const MOST_WATCHERS = 1000

/** The methods of the health service. `services` are the names that may be asked for, beside ''. */
export function healthMethods(
  health: Health,
  services: readonly string[],
): { readonly unary: [string, UnaryMethod]; readonly stream: [string, StreamMethod] } {
  const known = new Set(['', ...services])
  const watchers = new Set<ServerHttp2Stream>()
  const statusNow = (): number => (health.state === 'serving' ? SERVING : NOT_SERVING)
  health.onChange(() => {
    for (const stream of watchers) stream.write(replyOf(statusNow()))
  })

  const check: UnaryMethod = (message) => {
    const service = serviceOf(message)
    if (!known.has(service)) throw new StatusError('NOT_FOUND', `there is no service ${service}`)
    return replyOf(statusNow())
  }

  const watch: StreamMethod = (stream) => {
    const frames = new FrameReader(LARGEST_NAME)
    const onData = (chunk: Buffer): void => {
      try {
        const [message] = frames.push(chunk)
        if (message === undefined) return
        stream.off('data', onData).resume()
        if (watchers.size >= MOST_WATCHERS)
          throw new StatusError('RESOURCE_EXHAUSTED', 'too many watch already')
        const isKnown = known.has(serviceOf(message))
        openReply(stream, () => undefined)
        stream.write(replyOf(isKnown ? statusNow() : SERVICE_UNKNOWN))
        if (isKnown) watchers.add(stream)
      } catch (error) {
        replyStatus(stream, statusErrorOf(error))
      }
    }
    stream.on('data', onData)
    stream.on('close', () => watchers.delete(stream))
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
