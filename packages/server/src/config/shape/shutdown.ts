// The shape of `shutdown`.
import { z } from 'zod'
import { millis } from './values.ts'

export const shutdown = z.strictObject(
  {
    delay: millis.describe('How long to say "not ready" before the ports close.').default(1000),
    patience: millis.describe('How long work that has begun may take.').default(10_000),
  },
  { error: 'an object with delay and patience' },
)
