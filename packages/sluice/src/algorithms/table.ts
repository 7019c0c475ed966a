// The table of algorithms: one row each. Names, checks of limits, schemas, Redis scripts and test matrices derive from it.
import type { Algorithm, AlgorithmRow, LimitNumbers, State } from './algorithm.ts'
import { calendarWindow } from './calendar-window.ts'
import { firstWindow } from './first-window.ts'
import { fixedWindow } from './fixed-window.ts'
import { gcra } from './gcra.ts'
import { leakyBucket } from './leaky-bucket.ts'
import { lockout } from './lockout.ts'
import { bytesOfLog, slidingLog } from './sliding-log.ts'
import { slidingWindow } from './sliding-window.ts'
import { stampedFront } from './stamped-front.ts'
import { bytesOfStamps, stampedLog, takeOneStamped } from './stamped-log.ts'
import { tokenBucket } from './token-bucket.ts'

/**
 * The rows, in the order in which they are documented. The name of an algorithm is also the name of its page in
 * `docs/reference/algorithms` and of its vectors in `spec/algorithms`.
 * (`as` states what `row` returns, since declarations are made file by file.)
 */
const rows = {
  'token-bucket': row(tokenBucket, { words: 2, lua: 'bucket', hasBurst: true }) as AlgorithmRow,
  gcra: row(gcra, { words: 2, lua: 'bucket', hasBurst: true }) as AlgorithmRow,
  'leaky-bucket': row(leakyBucket, {
    words: 2,
    lua: 'bucket',
    hasBurst: true,
    delays: true,
  }) as AlgorithmRow,
  'fixed-window': row(fixedWindow, {
    words: 2,
    lua: 'fixed-window',
    isAligned: true,
  }) as AlgorithmRow,
  'sliding-window': row(slidingWindow, {
    words: 3,
    lua: 'sliding-window',
    isAligned: true,
  }) as AlgorithmRow,
  'sliding-log': row(slidingLog, {
    words: 0,
    bytesOf: bytesOfLog,
    lua: 'sliding-log',
    maxQuota: 10_000,
    canHold: true,
  }) as AlgorithmRow,
}

/**
 * The name of an algorithm.
 *
 * @example
 * ```ts
 * const algorithm: AlgorithmName = 'sliding-window'
 * ```
 */
export type AlgorithmName = keyof typeof rows

/**
 * The names of all algorithms, in the order in which they are documented.
 *
 * @example
 * ```ts
 * ALGORITHMS.includes('gcra') // true
 * ```
 */
export const ALGORITHMS = Object.keys(rows) as readonly AlgorithmName[]

const table: Readonly<Record<AlgorithmName, AlgorithmRow>> = rows

/** Rows that a field of the limit chooses instead of that of its algorithm. */
const variants = {
  first: row(firstWindow, { words: 2, lua: 'first-window' }) as AlgorithmRow,
  calendar: row(calendarWindow, { words: 3, lua: 'calendar-window' }) as AlgorithmRow,
  stamps: row(stampedLog, {
    words: 0,
    bytesOf: bytesOfStamps,
    takeOne: takeOneStamped,
    front: stampedFront,
    lua: 'stamped-log',
  }) as AlgorithmRow,
  lockout: row(lockout, { words: 3, lua: 'lockout' }) as AlgorithmRow,
}

/** Every row, as the Redis scripts number them from 1. */
export const ROWS: readonly AlgorithmRow[] = [...Object.values(rows), ...Object.values(variants)]

/** What of a limit decides by which arithmetic it is counted. */
export type Arithmetic = { readonly algorithm: AlgorithmName } & Pick<
  LimitNumbers,
  'anchor' | 'calendar' | 'stamps' | 'lockFor'
>

/** The row of a limit: that of its algorithm, or of a variant of it. */
export function algorithmOf(limit: Arithmetic): AlgorithmRow {
  if (limit.anchor !== undefined) return variants.first
  if (limit.calendar !== undefined) return variants.calendar
  if (limit.stamps !== undefined) return variants.stamps
  if (limit.lockFor !== undefined) return variants.lockout
  return table[limit.algorithm]
}

type Facts = Omit<AlgorithmRow, keyof Algorithm>

/** A row. By default an algorithm admits its quota at once, of any size, and holds no request. */
function row<S extends State>(
  functions: Algorithm<S>,
  facts: Pick<Facts, 'words' | 'lua'> & Partial<Facts>,
): AlgorithmRow {
  // A store hands an algorithm only states that this algorithm made, whatever they hold besides the three numbers.
  const common = functions as unknown as Algorithm
  const defaults = { hasBurst: false, maxQuota: Infinity, delays: false, isAligned: false }
  return { ...common, ...defaults, canHold: facts.words > 0, ...facts }
}
