// Opens the HTTP port, within limits for what clients may send and how long they may take.
import { once } from 'node:events'
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Server as TcpServer, type AddressInfo, type Socket } from 'node:net'
import type { Millis } from 'sluice'
import type { HttpListenerConfig } from '../config/config.ts'
import { limitRequests, limitSending } from './client-limits.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { Certificates } from '../tls/certificates.ts'
import type { Listener } from './listener.ts'
import { connectionOptions, httpServer } from './http-server.ts'
import { limitConnections } from './limit-connections.ts'

/** How long an idle connection stays open at shutdown: the client may have just sent a request. */
export const GRACE = 250
/** A timer that fires this much late shows that the process got too little processor time. */
const LATE = 25

/** The parts of the service that an HTTP port needs. */
export interface PortContext {
  readonly metrics: MetricRegistry
  readonly certificates: Certificates
}

/** Answers one request. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** What handlers read of their port. */
export interface PortState {
  /** Whether the port is closing, so that every answer is the last of its connection. */
  readonly isClosing: boolean
}

/** How a mounted route reports its answers. */
export interface MountedReply {
  /** Counts an answer that the route has sent itself. */
  readonly onAnswer: (status: number) => void
  /** Answers an error as a problem, logs it if it is a fault of ours, and counts it. */
  readonly onError: (response: ServerResponse, error: unknown) => void
  readonly port: PortState
}

/** A path of the HTTP port that another protocol serves, which need not know the API beside it. */
export interface MountedRoute {
  readonly path: string
  /** The accepted methods. Default: GET and HEAD. */
  readonly methods?: readonly string[]
  readonly createHandler: (reply: MountedReply) => Handler
}

/** Listens; rejects when the port cannot be opened. */
export async function openHttp(
  makeHandler: (port: PortState) => Handler,
  config: HttpListenerConfig,
  { metrics, certificates }: PortContext,
  name: 'http' | 'admin' | 'debug' = 'http',
): Promise<Listener> {
  const port = { isClosing: false }
  const tls = await certificates.open(name, config.tls)
  const refused = metrics
    .counter(
      `sluice_${name}_requests_refused_total`,
      'Requests refused because their address had too many at once.',
    )
    .with()
  const server = httpServer(
    connectionOptions(config),
    limitRequests(makeHandler(port), {
      max: config.maxRequestsPerAddress,
      host: config.host,
      fields: { 'Sluice-Status': 503 },
      onRefused: () => refused.add(),
    }),
    tls,
  )
  server.timeout = config.idleTimeout
  const { maxConnections, maxConnectionsPerAddress: perAddress } = config
  limitConnections(server, maxConnections, { perAddress })
  const sockets = collect(server, 'connection')
  // Under TLS the socket below has always sent something.
  const clients = tls === undefined ? sockets : collect(server, 'secureConnection')
  const stopWatching = limitSending(clients, config.sendTimeout)
  server.on('clientError', (error, socket: Socket) => refuse(error, socket, true))
  const dropped = metrics.counter(
    `sluice_${name}_connections_dropped_total`,
    'Connections refused because too many were open.',
  )
  dropped.with().add(0)
  server.on('drop', () => dropped.with().add())
  metrics
    .gauge(`sluice_${name}_connections`, 'Open connections.')
    .with()
    .readFrom(() => sockets.size)

  server.listen(config.port, config.host)
  await once(server, 'listening')
  return {
    name,
    url: urlOf(server.address() as AddressInfo, tls === undefined ? 'http' : 'https'),
    close: (patience: Millis) => {
      port.isClosing = true
      return closed(server, [sockets, clients], patience).finally(stopWatching)
    },
  }
}

/** The open connections of a server, now and later. */
export function collect(
  server: Server,
  event: 'connection' | 'secureConnection',
): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  server.on(event, (socket: Socket) => {
    // A socket that is returned to its server emits the event again.
    if (sockets.has(socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

/** Stops listening and waits for what has begun. */
export function closed(
  server: Server,
  sets: readonly ReadonlySet<Socket>[],
  patience: Millis,
): Promise<void> {
  const sockets = () => sets.flatMap((set) => [...set])
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      server.closeAllConnections()
      // closeAllConnections leaves out those still in the TLS handshake, and those that never sent anything.
      for (const socket of sockets()) socket.destroy()
    }, patience)
    const stopWaiting = afterQuiet(() => {
      server.closeIdleConnections()
      // Node does not count those as idle that have never sent anything.
      for (const socket of sockets()) if (socket.bytesRead === 0) socket.destroy()
    })
    // The HTTP server's own close would cut idle connections at once, also those with a request in transit.
    TcpServer.prototype.close.call(server, () => {
      clearTimeout(cut)
      stopWaiting()
      // Ends the timer that looks for slow connections.
      server.close(() => {})
      resolve()
    })
  })
}

/**
 * Calls once the grace is over and what has arrived by then was read. A process that got no processor time did not
 * read, and clients on the same machine did not send: the grace period starts again. Returns a function that cancels it.
 */
function afterQuiet(letGo: () => void): () => void {
  const due = performance.now() + GRACE
  let stop: () => void
  const timer = setTimeout(() => {
    if (performance.now() - due > LATE) stop = afterQuiet(letGo)
    else setImmediate(letGo)
  }, GRACE)
  stop = () => clearTimeout(timer)
  return () => stop()
}

/** Answers a request that is not HTTP or came too slowly, if the connection is still writable. */
export function refuse(error: NodeJS.ErrnoException, socket: Socket, withStatus = false): void {
  const { code = '' } = error
  // No answer to faults below HTTP: a lost connection, or a failed TLS handshake.
  const isBelow = !/^(HPE_|ERR_HTTP)/.test(code)
  // Nor to clients that never sent anything: thousands of those may time out at one moment.
  if (isBelow || socket.bytesRead === 0 || !socket.writable) {
    socket.destroy()
    return
  }
  const status = STATUS_OF_ERROR[code] ?? 400
  // A proxy recognizes an answer of the service by this field.
  const own = withStatus ? `Sluice-Status: ${status}\r\n` : ''
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n${own}\r\n`,
    () => socket.destroy(),
  )
}

const STATUS_OF_ERROR: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/** Where a server is reached. */
export function urlOf({ address, family, port }: AddressInfo, scheme: string): string {
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
