// The shape of `store` in its long form.
import { z } from 'zod'
import { flag, matching, millis, millisFrom, whole } from './values.ts'

const memory = z.strictObject({
  kind: z.literal('memory'),
  maxKeys: whole(1, 2 ** 24)
    .describe('Most keys held at once.')
    .default(1_000_000),
})

const redis = z.strictObject({
  kind: z.literal('redis'),
  url: matching(/^rediss?:\/\/\S+$/, "a URL such as 'redis://127.0.0.1:6379'").describe(
    'redis:// or rediss://, with user, password and database.',
  ),
  prefix: matching(/^[^{}]{1,32}$/, 'a string without { and }, at most 32 bytes')
    .describe('What every key begins with.')
    .default('sl:'),
  timeout: millis.describe('When a call is given up.').default(100),
  cluster: flag.describe('Whether the URL names a node of a cluster.').default(false),
  leaseLife: millisFrom(200, 60_000)
    .describe('For how long units are leased; the same in all instances; 2 s when it is left out.')
    .exactOptional(),
  syncInterval: millisFrom(10, 60_000)
    .describe('Within how long instances see what others took; 100 ms when it is left out.')
    .exactOptional(),
})

export const store = z.discriminatedUnion('kind', [memory, redis], {
  error: "'memory', a Redis URL, or an object with kind memory or redis",
})
