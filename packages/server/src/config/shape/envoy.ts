// The shape of `envoy`.
import { ALGORITHMS } from 'sluice'
import { DIALECT_NAMES } from 'sluice/http'
import { z } from 'zod'
import { flag, listOf, oneOf, text } from './values.ts'

const RATIO = 'a number from 0 to 1'

export const envoy = z.strictObject(
  {
    files: listOf(text('a file or a folder'), 'a list of files and folders')
      .describe("Files and folders in the format of Envoy's own rate limit service.")
      .default([]),
    mergeDomains: flag.describe('Whether several files may hold one domain.').default(false),
    algorithm: oneOf(ALGORITHMS)
      .describe('How the limits of those files are kept.')
      .default('fixed-window'),
    charging: oneOf(['all-or-none', 'each'])
      .describe('Whether a refused request costs nothing, or each descriptor pays for itself.')
      .default('all-or-none'),
    headers: listOf(oneOf(['retry-after', ...DIALECT_NAMES]), 'a list of header dialects')
      .describe('Headers for the client, besides what Envoy adds itself.')
      .default(['retry-after']),
    onStoreFailure: oneOf(['local', 'open', 'closed'])
      .describe('What the limits of those files do while a remote store cannot answer.')
      .default('local'),
    nearLimitRatio: z
      .number({ error: RATIO })
      .min(0, { error: RATIO })
      .max(1, { error: RATIO })
      .describe('The part of a limit above which units count as near it, in metrics.')
      .default(0.8),
    reflection: flag.describe('Whether tools may ask which services there are.').default(false),
  },
  { error: 'an object with files' },
)
