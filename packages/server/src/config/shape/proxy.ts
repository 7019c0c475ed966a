// The shape of `proxy`.
import type { DialectName } from 'sluice/http'
import { z } from 'zod'
import type { ProxyConfig } from '../config.ts'
import { listOf, matching, oneOf, text } from './values.ts'

const HTTP_DIALECTS = [
  'structured',
  'draft-7',
  'draft-6',
  'draft-3',
  'x-ratelimit',
  'x-ratelimit-delta',
] as const satisfies readonly DialectName[]

const attributes: z.ZodType<Readonly<Record<string, string>>> = z
  .record(z.string(), matching(/^[a-z0-9-]+$/i, 'the name of a request field, such as x-api-key'), {
    error: 'attributes with the request field that holds each',
  })
  .describe('Attributes by the request field that holds them.')
  .transform((fields) =>
    Object.fromEntries(Object.entries(fields).map(([name, it]) => [name, it.toLowerCase()])),
  )

export const proxy: z.ZodType<ProxyConfig> = z.strictObject(
  {
    routes: listOf(text("a pattern such as '/orders/{id}'"), 'a list of patterns')
      .describe('Patterns of paths; what matches none of them counts as one route.')
      .default([]),
    attributes: attributes.default({}),
    headers: listOf(oneOf(HTTP_DIALECTS), 'a list of header dialects')
      .describe('Header fields of the answer, for the proxy to hand on.')
      .default(['structured']),
  },
  { error: 'an object with routes, attributes and headers' },
)
