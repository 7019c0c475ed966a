// The shape of `envoy`.
import { ALGORITHMS } from 'sluice'
import { z } from 'zod'
import type { EnvoyConfig } from '../config.ts'
import { ENVOY_HEADERS } from '../envoy-options.ts'
import { flag, listOf, oneOf, text } from './values.ts'

export const envoy: z.ZodType<EnvoyConfig> = z.strictObject(
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
    headers: listOf(oneOf(ENVOY_HEADERS), 'a list of header dialects')
      .describe('Headers for the client, beside what Envoy adds itself.')
      .default(['retry-after']),
    onStoreFailure: oneOf(['local', 'open', 'closed'])
      .describe('What the limits of those files do while a remote store cannot answer.')
      .default('local'),
    reflection: flag.describe('Whether tools may ask which services there are.').default(false),
  },
  { error: 'an object with files' },
)
