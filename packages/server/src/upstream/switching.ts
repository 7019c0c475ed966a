// Requests to switch protocols: WebSocket is passed on; for any other protocol, the `Upgrade` field is dropped.
import { ServerResponse, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'

/** Whether a request is the beginning of a WebSocket, and nothing more (RFC 6455 section 4.1). */
export function wantsWebSocket({ method, headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers
  const isBare = method === 'GET' && length === '0' && coding === undefined
  return isBare && headers.upgrade?.toLowerCase() === 'websocket' && headers.expect === undefined
}

/**
 * Gives the connection back to the server as if the request had not asked for another protocol, as a server may
 * (RFC 9110 section 7.8). Forwarding such requests would be a way past the limits: over h2c the upstream would take
 * any number of requests on one connection, uncounted.
 */
export function withoutSwitch(
  server: Server,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): void {
  const { rawHeaders: raw } = request
  let text = `${request.method} ${request.url} HTTP/${request.httpVersion}\r\n`
  for (let i = 0; i < raw.length; i += 2)
    if (raw[i]!.toLowerCase() !== 'upgrade') text += `${raw[i]!}: ${raw[i + 1]!}\r\n`
  socket.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, 'latin1'), head]))
  server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket)
}

/** A response on a connection that Node's server has released; the connection ends with it. */
export function responseOn(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  socket.on('error', () => {})
  response.once('finish', () => socket.destroySoon())
  // Reads ahead, so that a client that disconnects is noticed.
  socket.read(0)
  return response
}
