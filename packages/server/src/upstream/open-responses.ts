// Which responses are owed on which connection. A client may send several requests before the first is answered.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The responses that have begun and not ended. */
export class OpenResponses {
  private readonly bySocket = new Map<Socket, Set<ServerResponse>>()
  private readonly onIdle: (socket: Socket) => void

  /** `onIdle` is called when the last response of a connection has ended. */
  constructor(onIdle: (socket: Socket) => void) {
    this.onIdle = onIdle
  }

  has(socket: Socket): boolean {
    return (this.bySocket.get(socket)?.size ?? 0) > 0
  }

  /** Whether a part of a response has been sent on the connection, and not its end. */
  isAnswering(socket: Socket): boolean {
    for (const response of this.bySocket.get(socket) ?? []) if (response.headersSent) return true
    return false
  }

  add(socket: Socket, response: ServerResponse): void {
    let responses = this.bySocket.get(socket)
    if (responses === undefined) {
      responses = new Set()
      this.bySocket.set(socket, responses)
      socket.once('close', () => this.forget(socket))
    }
    responses.add(response)
    response.once('close', () => this.closed(socket, response))
  }

  private closed(socket: Socket, response: ServerResponse): void {
    const responses = this.bySocket.get(socket)
    if (responses === undefined) return
    responses.delete(response)
    if (responses.size === 0 && !socket.destroyed) this.onIdle(socket)
  }

  /** Node emits `close` on the response that was being sent, but not on those that wait behind it. */
  private forget(socket: Socket): void {
    const responses = this.bySocket.get(socket)
    this.bySocket.delete(socket)
    for (const response of responses ?? []) {
      response.destroy()
      response.emit('close')
    }
  }
}
