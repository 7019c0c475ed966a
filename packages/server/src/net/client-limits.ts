// What a client may send and leave undone: requests that wait for an answer, on one connection and from one address, requests
// meant for another host, and answers not read.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Millis } from 'sluice'
import { networkOf } from './limit-connections.ts'
import { isAskedByProxy, isLocalHost, isLoopback, refuseHost } from './local-host.ts'

/** Answers one request. */
type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Requests of one connection that may wait for an answer. */
const MAX_UNANSWERED = 32
/** Requests behind the last answer that are ignored before the connection is cut: about what one read brings. */
const MAX_IGNORED = 4096

/**
 * Admits at most {@link MAX_UNANSWERED} pipelined requests at once. The last of them is answered with
 * `Connection: close`, and those behind it are not handled, so that the client may send them again (RFC 9112
 * section 9.6).
 */
class PipelinedRequests {
  private readonly max: number
  private readonly unanswered = new WeakMap<Socket, number>()

  constructor(max: number = MAX_UNANSWERED) {
    this.max = max
  }

  /** Whether to handle a request that came while an earlier one of its connection was not answered yet. */
  admit(socket: Socket, response: ServerResponse): boolean {
    const { max, unanswered } = this
    // The response that has the socket is one of them.
    const count = (unanswered.get(socket) ?? 1) + 1
    unanswered.set(socket, count)
    if (count > max) {
      if (count > max + MAX_IGNORED) socket.destroy()
      return false
    }
    if (count === max) response.shouldKeepAlive = false
    else response.once('close', () => unanswered.set(socket, unanswered.get(socket)! - 1))
    return true
  }
}

/** Requests of one address at once by default: more than a proxy in front has open, less than fills a heap. */
const MAX_REQUESTS_PER_ADDRESS = 10_000

/** Counts the requests of each network that are not answered yet. */
export class OpenRequests {
  private readonly max: number
  private readonly counts = new Map<string, number>()

  constructor(max: number = MAX_REQUESTS_PER_ADDRESS) {
    this.max = max
  }

  /** False if the network has too many already; otherwise the request counts until {@link leave}. */
  enter(network: string): boolean {
    const count = this.counts.get(network) ?? 0
    if (count >= this.max) return false
    this.counts.set(network, count + 1)
    return true
  }

  leave(network: string): void {
    const left = this.counts.get(network)! - 1
    if (left === 0) this.counts.delete(network)
    else this.counts.set(network, left)
  }
}

/** What a port allows, and how requests beyond it are answered. */
export interface RequestLimits {
  /** Requests at once from one address, or from one /64 of IPv6. Default 10,000. */
  readonly max?: number | undefined
  /** Where the port listens, if it takes no requests that were meant for another host while that is loopback. */
  readonly host?: string
  /** Further fields of the answer to requests beyond `max`, which is 503. */
  readonly fields?: OutgoingHttpHeaders
  /** Called for each request that gets an answer, before anything else is done for it. */
  readonly onBegin?: Handler
  readonly onRefused: () => void
}

/**
 * Refuses what a client may not send, before anything else is done for it: pipelined requests beyond a number, requests
 * of an address that has too many unanswered ones, and those that a web page sends to a port on loopback.
 */
export function limitRequests(handle: Handler, limits: RequestLimits): Handler {
  const { max, host = '', fields, onBegin, onRefused } = limits
  const pipelined = new PipelinedRequests()
  const open = new OpenRequests(max)
  /** Made once for each connection: the network of its address, and what ends a request. */
  const callers = new WeakMap<Socket, { network: string; leave: () => void }>()
  const isLocalOnly = isLoopback(host)
  /** Clients name the same host each time, and the expression that tests it costs more than the rest here. */
  let lastLocal: string | undefined
  return (request, response) => {
    const { socket } = request
    // Node assigns the socket at once unless an earlier response still has it.
    if (response.socket === null && !pipelined.admit(socket, response)) return
    onBegin?.(request, response)
    let caller = callers.get(socket)
    if (caller === undefined) {
      const network = networkOf(socket.remoteAddress)
      caller = { network, leave: open.leave.bind(open, network) }
      callers.set(socket, caller)
    }
    if (!open.enter(caller.network)) {
      onRefused()
      // The body is not read, so the connection cannot be used again.
      const own = { Connection: 'close', 'Content-Length': 0, 'Retry-After': 1, ...fields }
      response.writeHead(503, own)
      response.end()
      return
    }
    // Not once: a response closes once, and the wrapper costs as much as all the rest here.
    response.on('close', caller.leave)
    if (isLocalOnly && request.headers.host !== lastLocal) {
      if (isLocalHost(request.headers.host)) lastLocal = request.headers.host
      else if (!isAskedByProxy(request)) {
        refuseHost(response)
        return
      }
    }
    handle(request, response)
  }
}

/** Interval between two looks at the connections. */
const SWEEP_INTERVAL: Millis = 1000

/**
 * Cuts connections whose client has not read for `timeout` milliseconds although something was written to it.
 * Returns the function that ends the watch.
 */
export function limitSending(sockets: ReadonlySet<Socket>, timeout: Millis): () => void {
  const stalled = new WeakMap<Socket, { sent: number; since: Millis }>()
  const sweep = (): void => {
    const now = performance.now()
    for (const socket of sockets) {
      if (socket.writableLength === 0) continue
      const sent = socket.bytesWritten - socket.writableLength
      const last = stalled.get(socket)
      if (last === undefined || last.sent !== sent) stalled.set(socket, { sent, since: now })
      else if (now - last.since >= timeout) socket.destroy()
    }
  }
  const timer = setInterval(sweep, SWEEP_INTERVAL).unref()
  return () => clearInterval(timer)
}
