// Random limits and random walks for the laws. Steps are drawn without knowing the limit and made
// concrete while walking, so that they can aim: at the edge of a window, at the end of a wait, at
// exactly what is left.
import fc from 'fast-check'
import { lengthOf } from '../../../test/length.ts'
import { algorithmOf } from '../src/algorithms/table.ts'
import { limit, type AlgorithmName, type Limit } from '../src/limit/limit.ts'
import type { Verdict } from '../src/limit/verdict.ts'
import type { Millis } from '../src/time/clock.ts'

export { ALGORITHMS } from '../src/limit/limit.ts'

/**
 * A quarter of the runs, all of them in `npm run test:long`, or as many as FC_RUNS says; from a fixed seed, unless
 * FC_SEED names another.
 */
export function runs(numRuns: number): fc.Parameters<unknown> {
  const { FC_SEED, FC_RUNS } = process.env
  return {
    seed: Number(FC_SEED ?? 1_800_000_000),
    numRuns: Number(FC_RUNS ?? lengthOf(Math.ceil(numRuns / 4), numRuns)),
  }
}

const DAY = 86_400_000
const LARGEST_PRODUCT = 2 ** 52
/** Walks end about the year 144,000: an instant and the longest wait together are still exact. */
const LATEST = 2 ** 52

const windows = fc.oneof(
  { weight: 1, arbitrary: fc.constant(1) },
  { weight: 2, arbitrary: fc.integer({ min: 2, max: 60 }) },
  { weight: 3, arbitrary: fc.constantFrom(1000, 60_000, 3_600_000, DAY, 400 * DAY) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 400 * DAY }) },
)

const amounts = fc.oneof(
  { weight: 2, arbitrary: fc.constant(1) },
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 12 }) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 1000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: LARGEST_PRODUCT }) },
)

/** Valid limits of one algorithm: quota 1, burst above and below the quota, up to the largest numbers. */
export function limits(algorithm: AlgorithmName): fc.Arbitrary<Limit> {
  return fc.record({ window: windows, quota: amounts, burst: fc.option(amounts) }).map((drawn) => {
    const { window } = drawn
    const most = Math.floor(LARGEST_PRODUCT / window)
    const { hasBurst, maxQuota } = algorithmOf({ algorithm })
    const quota = Math.min(drawn.quota, maxQuota, most)
    const burst = hasBurst && drawn.burst !== null ? Math.min(drawn.burst, most) : quota
    return limit({ algorithm, quota, window, burst })
  })
}

/** How a step moves the clock. */
type Move =
  | 'stay'
  | 'tick'
  | 'part'
  | 'edge'
  | 'retry'
  | 'reset'
  | 'windows'
  | 'years'
  | 'back'
  | 'set back'

/** What a step asks for. */
type Asked = 'nothing' | 'one' | 'few' | 'left' | 'more' | 'burst' | 'too much' | 'huge'

/** A step before it knows its limit. `part` lies in [0, 1), `off` in [-1, 1]. */
export interface Step {
  readonly do: 'take' | 'peek' | 'refund'
  readonly move: Move
  readonly ask: Asked
  readonly part: number
  readonly off: number
}

const parts = fc.integer({ min: 0, max: 9999 }).map((n) => n / 10_000)
const weighted = <T>(...options: readonly (readonly [number, T])[]): fc.Arbitrary<T> =>
  fc.oneof(
    ...options.map(([weight, value]) => ({
      weight,
      arbitrary: fc.constant(value) as fc.Arbitrary<T>,
    })),
  )

const asks = weighted<Asked>(
  [1, 'nothing'],
  [8, 'one'],
  [4, 'few'],
  [3, 'left'],
  [3, 'more'],
  [2, 'burst'],
  [1, 'too much'],
  [1, 'huge'],
)
const forward = [
  [5, 'stay'],
  [3, 'tick'],
  [5, 'part'],
  [3, 'edge'],
  [4, 'retry'],
  [1, 'reset'],
  [1, 'windows'],
  [1, 'years'],
] as const
const backward = [
  [3, 'back'],
  [1, 'set back'],
] as const

/** What may happen on a walk beside takes and peeks: units handed back, a clock that goes back. */
export interface Kinds {
  readonly refund?: boolean
  readonly back?: boolean
}

/** Up to `length` steps of a walk. */
export function steps(length: number, kinds: Kinds = {}): fc.Arbitrary<readonly Step[]> {
  const does =
    kinds.refund === true
      ? weighted([8, 'take'], [1, 'peek'], [2, 'refund'])
      : weighted([8, 'take'], [1, 'peek'])
  const moves = weighted<Move>(...forward, ...(kinds.back === true ? backward : []))
  const step = fc.record({
    do: does as fc.Arbitrary<Step['do']>,
    move: moves,
    ask: asks,
    part: parts,
    off: fc.integer({ min: -1, max: 1 }),
  })
  return fc.array(step, { minLength: 1, maxLength: length, size: 'max' })
}

/** Where a walk begins: near the epoch, or in our days. */
export const starts: fc.Arbitrary<Millis> = fc.oneof(
  fc.integer({ min: 0, max: 5000 }),
  fc.integer({ min: 1_800_000_000_000, max: 1_800_100_000_000 }),
)

/** A step made concrete: at which instant, for how much; for refund, when it was taken. */
export interface Concrete {
  readonly do: Step['do']
  readonly at: Millis
  readonly cost: number
  readonly takenAt: Millis
}

/** Makes steps concrete one after another. Tell it every verdict, so that it can aim. */
export class Walk {
  readonly #limit: Limit
  readonly #taken: Millis[] = []
  #now: Millis
  #verdict: Verdict | undefined

  constructor(limit: Limit, start: Millis) {
    this.#limit = limit
    this.#now = start
  }

  next(step: Step): Concrete {
    this.#now = Math.min(LATEST, Math.max(0, this.#now + this.#moved(step)))
    const cost = this.#cost(step)
    const past = this.#taken[Math.floor(step.part * this.#taken.length)] ?? this.#now
    return { do: step.do, at: this.#now, cost, takenAt: step.off < 0 ? past : this.#takenAt(past) }
  }

  /** What the step just made concrete was answered. */
  told(verdict: Verdict, { do: done, cost }: Concrete): void {
    this.#verdict = verdict
    if (done === 'take' && verdict.allowed && cost > 0) this.#taken.push(verdict.at)
  }

  #takenAt(past: Millis): Millis {
    return this.#taken.at(-1) ?? past
  }

  #moved({ move, part, off }: Step): Millis {
    const { window, quota, burst } = this.#limit
    const toEdge = window - (this.#now % window)
    switch (move) {
      case 'stay':
        return 0
      case 'tick':
        return 1
      case 'part':
        return Math.floor(part * part * window)
      case 'edge':
        return Math.max(0, toEdge + off)
      case 'retry':
        return Math.max(0, (this.#verdict?.retryAfter ?? 0) + Math.min(0, off))
      case 'reset':
        return Math.max(0, (this.#verdict?.resetAfter ?? 0) + Math.min(0, off))
      case 'windows':
        return window * Math.ceil(part * 4) + off + 1
      case 'years':
        return 10 * 365 * DAY
      case 'back':
        return -Math.floor(part * window) - 1
      case 'set back':
        return -Math.floor(window * (1 + part * 3) + (off * burst * window) / Math.max(1, quota))
    }
  }

  #cost({ ask, part }: Step): number {
    const { burst } = this.#limit
    const left = this.#verdict?.remaining ?? burst
    switch (ask) {
      case 'nothing':
        return 0
      case 'one':
        return 1
      case 'few':
        return 1 + Math.floor(part * Math.min(burst, 10))
      case 'left':
        return Math.max(1, left)
      case 'more':
        return left + 1
      case 'burst':
        return burst
      case 'too much':
        return burst + 1
      case 'huge':
        return Number.MAX_SAFE_INTEGER
    }
  }
}
