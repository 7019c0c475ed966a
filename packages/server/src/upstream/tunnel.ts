// Two connections that have become one: bytes go through as they come, until either side ends or both fall silent.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Millis } from 'sluice'
import type { RawFields } from './fields.ts'

/** One end of a tunnel, and what it has already sent. */
export interface TunnelEnd {
  readonly socket: Socket
  readonly head: Buffer
}

/** How long one side may go on after the other has ended: long enough for a last message of the protocol. */
const LINGER: Millis = 5000

/**
 * Joins the ends after the head of the switch has gone to the client; calls back when both are closed. When one side
 * has ended, the other has `linger` milliseconds to end too: an upstream may ignore that its client has gone.
 */
export function joinEnds(
  client: TunnelEnd,
  upstream: TunnelEnd,
  silence: Millis,
  onClose: () => void,
  linger: Millis = LINGER,
): void {
  const ends = [client.socket, upstream.socket]
  let open = ends.length
  let lingering: NodeJS.Timeout | undefined
  const cut = (): void => {
    clearTimeout(lingering)
    for (const socket of ends) socket.destroy()
  }
  for (const socket of ends) {
    socket.setNoDelay(true)
    socket.setTimeout(silence, cut)
    socket.on('error', cut)
    socket.once('end', () => (lingering ??= setTimeout(cut, linger)))
    const closed = (): void => {
      cut()
      if (--open === 0) onClose()
    }
    // The client may have disconnected before the upstream answered.
    if (socket.closed) closed()
    else socket.once('close', closed)
  }
  if (upstream.head.length > 0) client.socket.write(upstream.head)
  if (client.head.length > 0) upstream.socket.write(client.head)
  client.socket.pipe(upstream.socket)
  upstream.socket.pipe(client.socket)
}

/** Sends the head of a switch of protocols, which Node's response cannot, and releases the connection. */
export function sendSwitch(response: ServerResponse, message: string, { raw }: RawFields): void {
  const { socket } = response
  if (socket === null) return
  response.detachSocket(socket)
  let text = `HTTP/1.1 101 ${message}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`
  for (let i = 0; i < raw.length; i += 2) text += `${raw[i]!}: ${raw[i + 1]!}\r\n`
  socket.write(`${text}\r\n`, 'latin1')
}
