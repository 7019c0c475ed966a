// Opens the port of the reverse proxy, within limits for its clients, and closes it without losing a response.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Millis } from 'sluice'
import type { Config, ProxyListenerConfig } from '../config/config.ts'
import { limitRequests, limitSending } from '../net/client-limits.ts'
import { closed, collect, GRACE, refuse, urlOf } from '../net/http-listener.ts'
import type { Listener } from '../net/listener.ts'
import type { ServiceContext } from '../limiters/limiters.ts'
import { connectionOptions, httpServer } from '../net/http-server.ts'
import { createGateway } from './gateway.ts'
import { OpenResponses } from './open-responses.ts'
import { wantsWebSocket, withoutSwitch } from './switching.ts'
import { Upstream } from './upstream.ts'
import { limitConnections } from '../net/limit-connections.ts'

/** Listens; rejects when the port cannot be opened. `file` is the configuration; relative paths start at its folder. */
export async function openProxy(
  config: ProxyListenerConfig,
  {
    proxy,
    trustedProxies,
    decisionIdHeader,
  }: Pick<Config, 'proxy' | 'trustedProxies' | 'decisionIdHeader'>,
  context: ServiceContext,
  file = '.',
): Promise<Listener> {
  const { metrics, certificates } = context
  const { upstreamCa, verifyUpstream: verify } = config
  const ca = upstreamCa && readFileSync(resolve(dirname(file), upstreamCa), 'utf8')
  const upstream = new Upstream({ ...config, url: config.upstream, verify, ca })
  let closing = false
  const isClosing = (): boolean => closing
  const via = config.via ? 'sluice' : null
  const { policy, keepHost, tunnelTimeout, llm = [] } = config
  const options = {
    policy,
    keepHost,
    llm,
    tunnelTimeout,
    via,
    upstream,
    isClosing,
    trustedProxies,
    decisionIdHeader,
  }
  const gateway = createGateway(context, { ...proxy, ...options })

  const open = new OpenResponses((socket) => {
    // The client may already have sent another request on a connection whose last answer had no `Connection: close`.
    if (closing) setTimeout(() => !open.has(socket) && socket.destroy(), GRACE)
  })
  const refused = metrics
    .counter(
      'sluice_proxy_requests_refused_total',
      'Requests refused because their address had too many at once.',
    )
    .with()
  const handle = limitRequests((request, response) => gateway.handle(request, response), {
    max: config.maxRequestsPerAddress,
    onBegin: (request, response) => open.add(request.socket, response),
    onRefused: () => refused.add(),
  })
  const tls = await certificates.open('proxy', config.tls)
  const server = httpServer(
    { ...connectionOptions(config), insecureHTTPParser: false },
    handle,
    tls,
  )
  const { maxConnections, maxConnectionsPerAddress: perAddress } = config
  limitConnections(server, maxConnections, { perAddress })
  server.on('checkContinue', handle)
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // The answers to requests that came before would end up in the other protocol.
    if (open.has(socket)) socket.destroy()
    else if (wantsWebSocket(request)) gateway.handleSwitch(request, socket, head)
    else withoutSwitch(server, request, socket, head)
  })
  // CONNECT asks for a tunnel to anywhere.
  server.on('connect', (_: IncomingMessage, socket: Socket) => {
    socket.on('error', () => {})
    if (open.has(socket)) {
      socket.destroy()
      return
    }
    socket.end('HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  })
  server.on('clientError', (error, socket: Socket) => {
    // A second answer would be taken for a part of the first.
    if (open.isAnswering(socket)) socket.destroySoon()
    else refuse(error, socket)
  })
  const sockets = collect(server, 'connection')
  const clients = tls === undefined ? sockets : collect(server, 'secureConnection')
  const stopWatching = limitSending(clients, config.sendTimeout)
  const dropped = metrics
    .counter('sluice_proxy_connections_dropped_total', 'Connections beyond the most allowed.')
    .with()
  server.on('drop', () => dropped.add())
  metrics
    .gauge('sluice_proxy_connections', 'Open connections of clients to the reverse proxy.')
    .with()
    .readFrom(() => sockets.size)

  server.listen(config.port, config.host)
  await once(server, 'listening')
  return {
    name: 'proxy',
    url: urlOf(server.address() as AddressInfo, tls === undefined ? 'http' : 'https'),
    close: async (patience: Millis) => {
      closing = true
      await closed(server, [sockets, clients], patience)
      stopWatching()
      upstream.close()
    },
  }
}
