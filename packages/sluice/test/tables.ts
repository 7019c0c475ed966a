// Tables of [instant, cost, expected]: the shape of most tests of an algorithm.
import { limit, type LimitFields } from '../src/limit/limit.ts'
import type { Millis } from '../src/time/clock.ts'
import { Count } from './count.ts'

/** When, how much, and what is expected: allowed, remaining, retryAfter, resetAfter, availableAfter, delay. */
export type Row = readonly [
  at: Millis,
  cost: number,
  allowed: 'yes' | 'no',
  remaining: number,
  retryAfter: Millis | 'never',
  resetAfter: Millis,
  availableAfter: Millis,
  delay: Millis,
]

/** The rows as the library fills them in, on one fresh count. */
export function filledIn(fields: LimitFields, rows: readonly Row[]): readonly Row[] {
  const count = new Count(limit(fields))
  return rows.map(([at, cost]) => {
    const taken = count.take(cost, at)
    const { remaining, resetAfter, availableAfter, delay } = taken
    const retryAfter = taken.retryAfter ?? 'never'
    const allowed = taken.allowed ? 'yes' : 'no'
    return [at, cost, allowed, remaining, retryAfter, resetAfter, availableAfter, delay]
  })
}
