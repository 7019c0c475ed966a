// The shape of `proxy`.
import { DIALECT_NAMES, isRoutePattern, type DialectName } from 'sluice/http'
import { z } from 'zod'
import { listOf, matching, millis, oneOf, text } from './values.ts'

/** The header dialects of answers over HTTP: the names of the library's table. */
export const dialects: z.ZodType<readonly DialectName[]> = listOf(
  oneOf(DIALECT_NAMES),
  `a list of header dialects such as [draft-8]; known: ${DIALECT_NAMES.join(', ')}`,
)

const attributes: z.ZodType<Readonly<Record<string, string>>> = z
  .record(z.string(), matching(/^[a-z0-9-]+$/i, 'the name of a request field, such as x-api-key'), {
    error: 'attributes with the request field that holds each',
  })
  .describe('Attributes by the request field that holds them.')
  .transform((fields) =>
    Object.fromEntries(Object.entries(fields).map(([name, it]) => [name, it.toLowerCase()])),
  )

const ROUTE = "a pattern such as '/orders/{id}', or '/files/{path*}' for all that follows"
const PREFIX = 'a whole number from 32 to 128'

/** Without `headers`, those of the whole service are used. */
export const proxy = z.strictObject(
  {
    routes: listOf(text(ROUTE).refine(isRoutePattern, { error: ROUTE }), 'a list of patterns')
      .describe('Patterns of paths; what matches none of them counts as one route.')
      .default([]),
    attributes: attributes.default({}),
    headers: dialects
      .describe('Header fields for the proxy to hand on, where they are not those of the service.')
      .exactOptional(),
    ipv6Prefix: z
      .int({ error: PREFIX })
      .min(32, { error: PREFIX })
      .max(128, { error: PREFIX })
      .describe('The bits of an IPv6 address that name a client.')
      .default(56),
    maxDelay: millis
      .refine((delay) => delay <= 60_000, { error: 'at most 1min' })
      .describe('How long an auth request is held for a leaky bucket; longer delays are refused.')
      .default(50),
    countPreflights: z
      .boolean({ error: 'true or false' })
      .describe('Whether CORS preflights are counted; blocks refuse them in any case.')
      .default(true),
    ambiguousPaths: z
      .enum(['count', 'refuse'], { error: 'count or refuse' })
      .describe(
        'Whether paths that servers read in different ways are counted as all of them, or refused.',
      )
      .default('count'),
  },
  {
    error:
      'an object with routes, attributes, headers, ipv6Prefix, maxDelay, countPreflights and ambiguousPaths',
  },
)
