// The shape of `listeners.grpc`.
import { z } from 'zod'
import { tls } from './tls.ts'
import { host, port, whole } from './values.ts'

export const grpc = z.strictObject({
  host: host.default('127.0.0.1'),
  port: port.default(8081),
  tls: tls.describe('Keys and certificates; plain text when it is left out.').exactOptional(),
  maxMessage: whole(1024, 2 ** 26)
    .describe('Most bytes of one message; 1,048,576 when it is left out.')
    .exactOptional(),
  maxDescriptors: whole(1, 10_000)
    .describe('Maximum number of descriptors in one request; 128 by default.')
    .exactOptional(),
  maxHeaders: whole(1024, 2 ** 20)
    .describe('Most bytes of a call’s headers; 16,384 when it is left out.')
    .exactOptional(),
  maxConnections: whole(1, 2 ** 20)
    .describe('Most connections at once; 20,000 when it is left out.')
    .exactOptional(),
  maxConnectionsPerAddress: whole(1, 2 ** 20)
    .describe('Maximum number of connections from one address; 10,000 by default.')
    .exactOptional(),
  maxRequestsPerAddress: whole(1, 2 ** 20)
    .describe('Maximum number of unanswered calls from one address; 10,000 by default.')
    .exactOptional(),
})
