// The shape of `listeners`: one member for each protocol.
import { z } from 'zod'
import type { HttpListenerConfig, ListenerConfig, ListenersConfig } from '../config.ts'
import { tls } from './tls.ts'
import { host, millis, port, whole } from './values.ts'

const secure = tls
  .describe('Keys and certificates; plain text when it is left out.')
  .exactOptional()

const http: z.ZodType<HttpListenerConfig> = z.strictObject({
  host: host.default('127.0.0.1'),
  port: port.default(8080),
  tls: secure,
  maxBody: whole(1024, 2 ** 26)
    .describe('Most bytes of a request body.')
    .default(262_144),
  maxHeaders: whole(1024, 2 ** 20)
    .describe('Most bytes of a request’s headers.')
    .default(16_384),
  headersTimeout: millis.describe('How long a client may take to send the headers.').default(5000),
  requestTimeout: millis
    .describe('How long a client may take to send a whole request.')
    .default(10_000),
  idleTimeout: millis
    .describe('How long a connection may stay open between two requests.')
    .default(75_000),
  maxConnections: whole(1, 2 ** 20)
    .describe('Most connections at once.')
    .default(20_000),
})

const grpc: z.ZodType<ListenerConfig> = z.strictObject({
  host: host.default('127.0.0.1'),
  port: port.default(8081),
  tls: secure,
})

export const listeners: z.ZodType<ListenersConfig> = z.strictObject(
  {
    http: http.describe('The HTTP API.').prefault({}),
    grpc: grpc.describe('The rate limit service of Envoy; off when left out.').exactOptional(),
  },
  { error: 'an object with http and grpc' },
)
