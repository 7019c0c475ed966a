// What a client may leave undone: requests that wait for an answer, on one connection and from one address, and answers not read.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Millis } from 'sluice'
import { networkOf } from './limit-connections.ts'

/** Answers one request. */
type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Requests of one connection that may wait for an answer. */
const MAX_UNANSWERED = 32
/** Requests behind the last answer that are ignored before the connection is cut: about what one read brings. */
const MAX_IGNORED = 4096

/**
 * Answers at most {@link MAX_UNANSWERED} pipelined requests at once. The last of them is answered with
 * `Connection: close`, and those behind it are not handled, so that the client may send them again (RFC 9112
 * section 9.6). A request alone on its connection costs nothing here.
 */
export function limitUnanswered(handle: Handler, max: number = MAX_UNANSWERED): Handler {
  const unanswered = new WeakMap<Socket, number>()
  return (request, response) => {
    // Node assigns the socket at once unless an earlier response still has it.
    if (response.socket !== null) {
      handle(request, response)
      return
    }
    const { socket } = request
    // The response that has the socket is one of them.
    const count = (unanswered.get(socket) ?? 1) + 1
    unanswered.set(socket, count)
    if (count > max) {
      if (count > max + MAX_IGNORED) socket.destroy()
      return
    }
    if (count === max) response.shouldKeepAlive = false
    else response.once('close', () => unanswered.set(socket, unanswered.get(socket)! - 1))
    handle(request, response)
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

/** How requests beyond the limit are answered. */
export interface RequestLimit {
  /** Requests at once from one address, or from one /64 of IPv6. Default 10,000. */
  readonly max?: number | undefined
  /** Further fields of the answer, which is 503. */
  readonly fields?: OutgoingHttpHeaders
  readonly onRefused: () => void
}

/** Refuses requests of an address that has too many unanswered ones, before anything else is done for them. */
export function limitRequests(handle: Handler, { max, fields, onRefused }: RequestLimit): Handler {
  const open = new OpenRequests(max)
  /** Made once for each connection: the network of its address, and what ends a request. */
  const callers = new WeakMap<Socket, { network: string; leave: () => void }>()
  return (request, response) => {
    const { socket } = request
    let caller = callers.get(socket)
    if (caller === undefined) {
      const network = networkOf(socket.remoteAddress)
      caller = { network, leave: () => open.leave(network) }
      callers.set(socket, caller)
    }
    if (open.enter(caller.network)) {
      // Not once: a response closes once, and the wrapper costs as much as all the rest here.
      response.on('close', caller.leave)
      handle(request, response)
      return
    }
    onRefused()
    // The body is not read, so the connection cannot be used again.
    response.writeHead(503, {
      Connection: 'close',
      'Content-Length': 0,
      'Retry-After': 1,
      ...fields,
    })
    response.end()
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
