// Makes the server of a listener, of HTTP/1.1 or HTTP/2, with or without TLS.
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import {
  createSecureServer as createSecureHttp2,
  createServer as createHttp2,
  type Http2Server,
  type ServerOptions as Http2Options,
} from 'node:http2'
import { createServer as createSecureServer } from 'node:https'
import type { ListenerTls } from '../tls/listener-tls.ts'
import type { HttpListenerConfig } from '../config/config.ts'

/**
 * A server that does not listen yet; with TLS it follows the listener's certificates, and a client has as long for the
 * handshake as for its headers.
 */
export function httpServer(
  options: ServerOptions,
  handler: RequestListener,
  tls?: ListenerTls,
): Server {
  if (tls === undefined) return createServer(options, handler)
  const { headersTimeout: handshakeTimeout } = options
  const timing = handshakeTimeout === undefined ? {} : { handshakeTimeout }
  const server = createSecureServer({ ...options, ...tls.options, ...timing }, handler)
  tls.attach(server)
  return server
}

/** How often connections are looked at for being too slow. */
const LOOK_EVERY = 1000

/** What a listener's fields say of its connections. */
export function connectionOptions({
  maxHeaders,
  headersTimeout,
  requestTimeout,
  idleTimeout,
}: Pick<
  HttpListenerConfig,
  'maxHeaders' | 'headersTimeout' | 'requestTimeout' | 'idleTimeout'
>): ServerOptions {
  return {
    maxHeaderSize: maxHeaders,
    headersTimeout,
    requestTimeout: Math.max(requestTimeout, headersTimeout),
    keepAliveTimeout: idleTimeout,
    connectionsCheckingInterval: LOOK_EVERY,
  }
}

/** The same of HTTP/2. */
export function http2Server(options: Http2Options, tls?: ListenerTls): Http2Server {
  if (tls === undefined) return createHttp2(options)
  const server = createSecureHttp2({ ...options, ...tls.options })
  tls.attach(server)
  return server
}
