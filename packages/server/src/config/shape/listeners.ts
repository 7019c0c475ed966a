// The shape of `listeners`: one member for each protocol.
import { z } from 'zod'
import { adminListener } from './admin.ts'
import { grpc } from './grpc.ts'
import { proxyListener } from './proxy-listener.ts'
import { connectionLimits } from './connection-limits.ts'
import { tls } from './tls.ts'
import { host, millis, port, whole } from './values.ts'

export const http = z.strictObject({
  host: host.default('127.0.0.1'),
  port: port.default(8080),
  tls: tls.describe('Keys and certificates; plain text when it is left out.').exactOptional(),
  maxBody: whole(1024, 2 ** 26)
    .describe('Most bytes of a request body.')
    .default(262_144),
  requestTimeout: millis
    .describe('How long a client may take to send a whole request.')
    .default(10_000),
  ...connectionLimits,
})

export const listeners = z.strictObject(
  {
    http: http.describe('The HTTP API.').prefault({}),
    grpc: grpc.describe('The rate limit service of Envoy; off when left out.').exactOptional(),
    proxy: proxyListener.describe('The reverse proxy; off when left out.').exactOptional(),
    admin: adminListener
      .describe('The admin API; off when left out, and as long as there is no token.')
      .exactOptional(),
    debug: http
      .extend({ port: port.default(6070), maxConnections: whole(1, 2 ** 20).default(100) })
      .describe("The debug port of Envoy's own service, for GET /rlconfig; off when left out.")
      .exactOptional(),
  },
  { error: 'an object with http, grpc, proxy, admin and debug' },
)
