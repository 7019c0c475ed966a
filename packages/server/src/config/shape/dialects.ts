// The header dialects of answers over HTTP: the names of the library's table.
import { DIALECT_NAMES, type DialectName } from 'sluice/http'
import type { z } from 'zod'
import { listOf, oneOf } from './values.ts'

export const dialects: z.ZodType<readonly DialectName[]> = listOf(
  oneOf(DIALECT_NAMES),
  `a list of header dialects such as [draft-8]; known: ${DIALECT_NAMES.join(', ')}`,
)
