// The shape of `workers`.
import { availableParallelism } from 'node:os'
import { z } from 'zod'

/** What `workers` may be. */
export const WORKERS = "a whole number from 1 to 256, or 'auto' for one for each core"
const MAX_WORKERS = 256
/** Stands for `auto` until the store is known. */
const AUTO = 0

export const workers: z.ZodType<number> = z
  .union(
    [
      z.int({ error: WORKERS }).min(1, { error: WORKERS }).max(MAX_WORKERS, { error: WORKERS }),
      z.literal('auto'),
    ],
    { error: WORKERS },
  )
  .transform((value) => (value === 'auto' ? AUTO : value))

/** The same from a string; undefined when it is not accepted. */
export function workersOf(text: string): number | undefined {
  const value = /^[0-9]{1,3}$/.test(text) ? Number(text) : text
  return workers.safeParse(value).data
}

/** How many workers there are: `auto` is one for each core, or one if counts are in the memory of a process. */
export function workerCount(workers: number, store: 'memory' | 'redis'): number {
  if (workers !== AUTO) return workers
  return store === 'memory' ? 1 : Math.min(availableParallelism(), MAX_WORKERS)
}
