// What every listener of HTTP/1.1 accepts from its clients, and how long they may take.
import type { z } from 'zod'
import { millis, whole } from './values.ts'

/** The members that listeners of HTTP/1.1 have in common. */
export const connectionLimits: {
  readonly maxHeaders: z.ZodDefault<z.ZodType<number>>
  readonly headersTimeout: z.ZodDefault<z.ZodType<number>>
  readonly idleTimeout: z.ZodDefault<z.ZodType<number>>
  readonly sendTimeout: z.ZodDefault<z.ZodType<number>>
  readonly maxConnections: z.ZodDefault<z.ZodType<number>>
  readonly maxConnectionsPerAddress: z.ZodDefault<z.ZodType<number>>
  readonly maxRequestsPerAddress: z.ZodDefault<z.ZodType<number>>
} = {
  maxHeaders: whole(1024, 2 ** 20)
    .describe('Most bytes of a request’s headers.')
    .default(16_384),
  headersTimeout: millis.describe('How long a client may take to send the headers.').default(5000),
  idleTimeout: millis
    .describe('How long a connection may stay open between two requests.')
    .default(75_000),
  sendTimeout: millis
    .describe('How long a client may leave an answer unread before its connection is cut.')
    .default(30_000),
  maxConnections: whole(1, 2 ** 20)
    .describe('Most connections at once.')
    .default(20_000),
  maxConnectionsPerAddress: whole(1, 2 ** 20)
    .describe('Maximum number of connections from one address, or from one /64 of IPv6.')
    .default(10_000),
  maxRequestsPerAddress: whole(1, 2 ** 20)
    .describe('Maximum number of unanswered requests from one address, or from one /64 of IPv6.')
    .default(10_000),
}
