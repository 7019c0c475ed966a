// The shape of `failure`.
import { z } from 'zod'
import { whole } from './values.ts'

const SHARE = 'a number above 0, at most 1'

export const failure = z
  .strictObject(
    {
      fallbackShare: z
        .number({ error: SHARE })
        .positive({ error: SHARE })
        .max(1, { error: SHARE })
        .describe('The part of every quota that one instance grants without the store.')
        .exactOptional(),
      replicas: whole(1, 100_000)
        .describe('Or how many instances share the limits; each then grants its part.')
        .exactOptional(),
    },
    { error: 'an object with fallbackShare or replicas' },
  )
  .refine(({ fallbackShare, replicas }) => fallbackShare === undefined || replicas === undefined, {
    error: 'fallbackShare or replicas, not both',
  })
