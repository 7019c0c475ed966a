// A gRPC server on node:http2, lean because it knows that calls are small: read a message, decide, answer.
import type {
  Http2Server,
  IncomingHttpHeaders,
  ServerHttp2Session,
  ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { isPromise, type MaybePromise, type Millis } from 'sluice'
import { MAX_TIMER_MS } from 'sluice/http'
import { http2Server } from '../../net/http-server.ts'
import type { ListenerTls } from '../../tls/listener-tls.ts'
import { FRAME_HEADER, onlyMessage } from './frames.ts'
import { replyHttp, replyMessage, replyStatus } from './reply.ts'
import { StatusError, statusErrorOf, type StatusName } from './status.ts'
import { timeoutOf } from './timeout.ts'
import { MessageBuffer } from './message-buffer.ts'
import { SessionLimits, type SessionState, type SessionTimeouts } from './session-limits.ts'
import { StreamDeadlines, TimedStream } from './stream-deadlines.ts'
import { limitConnections } from '../../net/limit-connections.ts'
import { OpenRequests } from '../../net/client-limits.ts'

/** A call of one message and one answer: takes the message, gives the answer in its frame. */
export type UnaryMethod = (message: Buffer) => MaybePromise<Buffer>
/**
 * A call of many messages. It owns the stream, whose errors are handled. It calls `onMessage` for every whole message:
 * a stream is cut when it has not had its first in time, and with `again` also when the next does not follow in time.
 */
export type StreamMethod = (stream: ServerHttp2Stream, onMessage: (next?: 'again') => void) => void

/** What a server answers to, by path. */
export interface GrpcMethods {
  readonly unary: ReadonlyMap<string, UnaryMethod>
  readonly streams: ReadonlyMap<string, StreamMethod>
}

/** How a server listens, and what it accepts from its clients. */
export interface GrpcServerOptions extends SessionTimeouts {
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
  /** Most bytes of one message. Default 1 MiB. */
  readonly maxMessage?: number
  /** Most bytes of a call's headers, with 32 for each field. Default 16 KiB. */
  readonly maxHeaders?: number
  /** Most calls at once on one connection. Default 1024. */
  readonly maxCalls?: number
  readonly maxConnections?: number
  readonly maxConnectionsPerAddress?: number
  /** Calls of one address that may be unanswered at once. Default 10,000. */
  readonly maxRequestsPerAddress?: number
  /** How long a caller may take to send its message, and to read the answer. Default 10 s. */
  readonly requestTimeout?: Millis
  /** Keys and certificates; plain text without them. */
  readonly tls?: ListenerTls
  /** Called when a call of one message ends, with its status and how long it took in milliseconds. */
  readonly onCall?: (status: StatusName, took: Millis) => void
  /** Called with errors that are the service's own fault. */
  readonly onBug?: (error: unknown) => void
}

/** Interval between two sweeps for late clients. */
const SWEEP_INTERVAL: Millis = 1000
const GRPC_TYPE = /^application\/grpc(?:\+proto)?(?:;|$)/
/** Whole messages that one connection may keep in memory before they are decided. */
const MAX_BUFFERED_MESSAGES = 4

/** A call of one message, from its arrival to its answer. */
interface UnaryCall {
  readonly timed: TimedStream
  readonly message: MessageBuffer
  /** `grpc-timeout`, as it was sent. */
  readonly timeout: string | undefined
  readonly method: UnaryMethod
  readonly state: SessionState | undefined
  readonly arrived: Millis
}

/** An open port. */
export interface GrpcServer {
  readonly port: number
  /** Takes no new calls, lets those that have begun finish for `patience` milliseconds, then cuts them off. */
  close(patience: Millis): Promise<void>
}

/** Opens a port. */
export async function startGrpcServer(
  methods: GrpcMethods,
  options: GrpcServerOptions,
): Promise<GrpcServer> {
  const running = new Running(methods, options)
  await running.listen(options.host, options.port)
  return running
}

class Running implements GrpcServer {
  private readonly server: Http2Server
  private readonly methods: GrpcMethods
  private readonly options: GrpcServerOptions
  private readonly largest: number
  /** Bytes of messages that one connection may keep in memory before they are decided. */
  private readonly maxBuffered: number
  private readonly sockets = new Set<Socket>()
  private readonly sessions: SessionLimits
  private readonly deadlines: StreamDeadlines
  private readonly open: OpenRequests
  private readonly sweeper: NodeJS.Timeout
  private readonly streaming = new Set<ServerHttp2Stream>()

  constructor(methods: GrpcMethods, options: GrpcServerOptions) {
    this.methods = methods
    this.options = options
    this.largest = options.maxMessage ?? 1_048_576
    this.maxBuffered = MAX_BUFFERED_MESSAGES * (this.largest + FRAME_HEADER)
    this.sessions = new SessionLimits(options)
    this.deadlines = new StreamDeadlines(options.requestTimeout ?? 10_000)
    this.open = new OpenRequests(options.maxRequestsPerAddress)
    this.sweeper = setInterval(() => this.sweep(), SWEEP_INTERVAL).unref()
    const { maxCalls = 1024, maxHeaders = 16_384 } = options
    const settings = { maxConcurrentStreams: maxCalls, maxHeaderListSize: maxHeaders }
    this.server = http2Server({ settings }, options.tls)
    const { maxConnections, maxConnectionsPerAddress: perAddress } = options
    if (maxConnections !== undefined) limitConnections(this.server, maxConnections, { perAddress })
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket)
      socket.once('close', () => this.sockets.delete(socket))
    })
    this.server.on('session', (session) => this.keep(session))
    this.server.on('stream', (stream, headers) => this.accept(stream, headers))
    // Connections that fail, and bytes that are no HTTP/2, end with themselves.
    this.server.on('sessionError', () => {})
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  listen(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject)
      this.server.listen(port, host, () => {
        this.server.off('error', reject)
        this.server.on('error', (error) => this.options.onBug?.(error))
        resolve()
      })
    })
  }

  async close(patience: Millis): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()))
    // Calls of many messages have no end of their own.
    for (const stream of this.streaming) stream.end()
    for (const session of this.sessions.all()) session.close()
    const cut = setTimeout(() => {
      for (const session of this.sessions.all()) session.destroy()
      // Those that have not agreed on keys yet have no session.
      for (const socket of this.sockets) socket.destroy()
    }, patience)
    await closed
    clearTimeout(cut)
    clearInterval(this.sweeper)
  }

  private keep(session: ServerHttp2Session): void {
    this.sessions.add(session, performance.now())
    session.on('error', () => {})
  }

  private sweep(): void {
    const now = performance.now()
    this.deadlines.sweep(now)
    this.sessions.sweep(now)
  }

  private accept(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on('error', ignore)
    const now = performance.now()
    const state = this.sessions.get(stream.session)
    const message = new MessageBuffer()
    const timed = new TimedStream(stream)
    if (!this.begin(timed, state, message, now)) return
    const { ':method': method, ':path': path = '', 'content-type': type } = headers
    if (method !== 'POST') return replyHttp(stream, 405)
    if (type !== 'application/grpc' && (type === undefined || !GRPC_TYPE.test(type)))
      return replyHttp(stream, 415)
    const unary = this.methods.unary.get(path)
    if (unary !== undefined) {
      // Not the headers themselves, which would live as long as the call.
      const timeout = headers['grpc-timeout'] as string | undefined
      return this.readCall({ timed, message, timeout, method: unary, state, arrived: now })
    }
    const streaming = this.methods.streams.get(path)
    if (streaming !== undefined) return this.openStream(timed, streaming)
    replyStatus(stream, new StatusError('UNIMPLEMENTED', `there is no method ${path}`))
  }

  /**
   * From here until its end a stream has a deadline and keeps its session in use. False if the client's address has too
   * many unanswered calls; the call is then refused. What is left of its message is forgotten at the end.
   */
  private begin(
    timed: TimedStream,
    state: SessionState | undefined,
    message: MessageBuffer,
    now: Millis,
  ): boolean {
    const { stream } = timed
    this.deadlines.start(timed, now)
    if (state === undefined) {
      stream.on('close', () => this.deadlines.stop(timed))
      return true
    }
    state.heardAt = now
    state.usedAt = now
    state.calls += 1
    const isAdmitted = this.open.enter(state.network)
    stream.on('close', () => {
      this.deadlines.stop(timed)
      state.usedAt = performance.now()
      state.calls -= 1
      state.buffered -= message.length
      if (isAdmitted) this.open.leave(state.network)
    })
    if (!isAdmitted) {
      const message = 'the address has too many unanswered calls'
      replyStatus(stream, new StatusError('RESOURCE_EXHAUSTED', message))
    }
    return isAdmitted
  }

  private openStream(timed: TimedStream, method: StreamMethod): void {
    const { stream } = timed
    this.streaming.add(stream)
    stream.on('close', () => this.streaming.delete(stream))
    method(stream, (next) => {
      if (next === 'again') this.deadlines.start(timed, performance.now())
      else this.deadlines.stop(timed)
    })
  }

  private readCall(call: UnaryCall): void {
    const { message, state } = call
    const { stream } = call.timed
    stream.on('data', (piece: Buffer) => {
      // The message was refused before.
      if (stream.headersSent) return
      message.append(piece)
      if (state !== undefined) state.buffered += piece.length
      const isTooLong = message.length > this.largest + FRAME_HEADER
      if (!isTooLong && (state === undefined || state.buffered <= this.maxBuffered)) return
      takeMessage(call)
      const detail = isTooLong
        ? `a message has more than ${this.largest} bytes`
        : `the messages under way on this connection have more than ${this.maxBuffered} bytes`
      this.fail(stream, new StatusError('RESOURCE_EXHAUSTED', detail), call.arrived)
    })
    stream.on('end', () => {
      // The client disconnected, or the message was refused before.
      if (stream.aborted || stream.destroyed || stream.headersSent) return
      this.answer(call, takeMessage(call))
    })
  }

  private answer({ timed, timeout: given, method, arrived }: UnaryCall, bytes: Buffer): void {
    try {
      const timeout = timeoutOf(given)
      if (timeout !== undefined && performance.now() - arrived >= timeout) throw tooLate()
      const reply = method(onlyMessage(bytes, this.largest))
      if (isPromise(reply)) this.answerLater(timed, reply, timeout, arrived)
      else this.succeed(timed, reply, arrived)
    } catch (error) {
      this.fail(timed.stream, error, arrived)
    }
  }

  /** Waits for an answer, but not longer than the caller does. */
  private answerLater(
    timed: TimedStream,
    reply: Promise<Buffer>,
    timeout: Millis | undefined,
    arrived: Millis,
  ): void {
    // The client is not waited for meanwhile.
    this.deadlines.stop(timed)
    const { stream } = timed
    const left = timeout === undefined ? undefined : timeout - (performance.now() - arrived)
    const timer =
      left === undefined || left > MAX_TIMER_MS
        ? undefined
        : setTimeout(() => this.fail(stream, tooLate(), arrived), left)
    reply
      .then((frame) => {
        clearTimeout(timer)
        this.succeed(timed, frame, arrived)
      })
      .catch((error: unknown) => {
        clearTimeout(timer)
        this.fail(stream, error, arrived)
      })
  }

  private succeed(timed: TimedStream, frame: Buffer, arrived: Millis): void {
    const { stream } = timed
    if (stream.destroyed || stream.headersSent) return
    const now = performance.now()
    this.deadlines.start(timed, now)
    replyMessage(stream, frame)
    this.options.onCall?.('OK', now - arrived)
  }

  private fail(stream: ServerHttp2Stream, error: unknown, arrived: Millis): void {
    const failure = statusErrorOf(error)
    if (failure.status === 'INTERNAL') this.options.onBug?.(error)
    if (stream.destroyed || stream.headersSent) return
    replyStatus(stream, failure)
    this.options.onCall?.(failure.status, performance.now() - arrived)
  }
}

/** What has arrived of a message, which is then forgotten: streams live on for a while after their end. */
function takeMessage({ message, state }: UnaryCall): Buffer {
  const bytes = message.contents()
  if (state !== undefined) state.buffered -= message.length
  message.clear()
  return bytes
}

/** What fails ends with its stream. */
function ignore(): void {}

function tooLate(): StatusError {
  return new StatusError('DEADLINE_EXCEEDED', 'the time that the caller gives is over')
}
