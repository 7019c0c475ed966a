// The shape of `workers`.
import { availableParallelism } from 'node:os'
import { z } from 'zod'

/** What `workers` may be. */
export const WORKERS = "a whole number from 1 to 256, or 'auto' for one for each core"
const MOST = 256

export const workers: z.ZodType<number> = z
  .union(
    [
      z.int({ error: WORKERS }).min(1, { error: WORKERS }).max(MOST, { error: WORKERS }),
      z.literal('auto'),
    ],
    { error: WORKERS },
  )
  .transform((value) => (value === 'auto' ? coreCount() : value))

/** The same from text; undefined when it is not accepted. */
export function workersOf(text: string): number | undefined {
  const value = /^[0-9]{1,3}$/.test(text) ? Number(text) : text
  return workers.safeParse(value).data
}

function coreCount(): number {
  return Math.min(availableParallelism(), MOST)
}
