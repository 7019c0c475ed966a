// The header dialects that answers over HTTP may speak.
import type { DialectName } from 'sluice/http'
import type { z } from 'zod'
import { listOf, oneOf } from './values.ts'

const HTTP_DIALECTS = [
  'structured',
  'draft-7',
  'draft-6',
  'draft-3',
  'x-ratelimit',
  'x-ratelimit-delta',
] as const satisfies readonly DialectName[]

export const dialects: z.ZodType<readonly DialectName[]> = listOf(
  oneOf(HTTP_DIALECTS),
  'a list of header dialects',
)
