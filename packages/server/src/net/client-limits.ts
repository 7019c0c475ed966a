// What a client of HTTP/1.1 may leave undone on its connection: requests that wait for an answer, answers not read.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Millis } from 'sluice'

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
