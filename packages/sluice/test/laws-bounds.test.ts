// Law: never more than the bound that the algorithm promises, in any interval; and each bound is reached.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { algorithmOf } from '../src/algorithms/table.ts'
import { limit, type AlgorithmName, type Limit } from '../src/limit/limit.ts'
import type { Millis } from '../src/time/clock.ts'
import { Count } from './count.ts'
import { definitions, type Bound } from './definitions.ts'
import { ALGORITHMS, limits } from './walks.ts'
import { walking } from './walking.ts'

/** What was admitted when; for the leaky bucket also when it goes on. */
interface Admitted {
  readonly at: Millis
  readonly cost: number
  readonly release: Millis
}

/** The first interval in which more was admitted than the bound allows. */
function excess(limit: Limit, admitted: readonly Admitted[], bound: Bound): string | undefined {
  for (let i = 0; i < admitted.length; i++) {
    let sum = 0n
    for (let j = i; j < admitted.length; j++) {
      sum += BigInt(admitted[j]!.cost)
      const most = bound(limit, admitted[i]!.at, admitted[j]!.at)
      if (sum * BigInt(limit.window) > most) {
        return `${sum} from ${admitted[i]!.at} to ${admitted[j]!.at}`
      }
    }
  }
  return undefined
}

/** Units by aligned window. */
function byWindow({ window }: Limit, admitted: readonly Admitted[]): Map<number, number> {
  const sums = new Map<number, number>()
  for (const { at, cost } of admitted) {
    const number = Math.floor(at / window)
    sums.set(number, (sums.get(number) ?? 0) + cost)
  }
  return sums
}

/** Small limits, on which a walk comes often to the edge. */
const small = (algorithm: AlgorithmName): fc.Arbitrary<Limit> =>
  fc
    .record({
      quota: fc.integer({ min: 1, max: 6 }),
      window: fc.integer({ min: 1, max: 40 }),
      burst: fc.integer({ min: 1, max: 12 }),
    })
    .map(({ quota, window, burst }) =>
      algorithmOf({ algorithm }).hasBurst
        ? limit({ algorithm, quota, window, burst })
        : limit({ algorithm, quota, window }),
    )

describe.each(ALGORITHMS)('%s', (algorithm) => {
  it.each([
    ['small limits', small(algorithm), 300],
    ['any limits', limits(algorithm), 150],
  ] as const)('never admits more than its bound in any interval: %s', (_, drawn, runs) => {
    let most = 0
    walking(algorithm, { limits: drawn, runs, length: 80 }, () => {
      const admitted: Admitted[] = []
      return ({ limit, step, taken }) => {
        if (step.do !== 'take' || !taken.allowed || step.cost === 0) return
        admitted.push({ at: step.at, cost: step.cost, release: step.at + taken.delay })
        most = Math.max(most, admitted.length)
        expect(excess(limit, admitted, definitions[algorithm].bound)).toBeUndefined()
      }
    })
    expect(most).toBeGreaterThan(5)
  })
})

describe.each(['fixed-window', 'sliding-window'] as const)('%s', (algorithm) => {
  it('never admits more than its quota in an aligned window', () => {
    walking(algorithm, { limits: small(algorithm), runs: 300, length: 80 }, () => {
      const admitted: Admitted[] = []
      return ({ limit, step, taken }) => {
        if (step.do === 'take' && taken.allowed) admitted.push({ ...step, release: step.at })
        for (const units of byWindow(limit, admitted).values()) {
          expect(units).toBeLessThanOrEqual(limit.quota)
        }
      }
    })
  })
})

describe('leaky-bucket', () => {
  it('lets requests go on no closer than their costs take to drain, but for one millisecond of rounding', () => {
    walking('leaky-bucket', { runs: 300, length: 60 }, () => {
      const admitted: Admitted[] = []
      return ({ limit, step, taken }) => {
        if (step.do !== 'take' || !taken.allowed || step.cost === 0) return
        const release = step.at + taken.delay
        let between = 0n
        // Each release is its exact start, rounded up: the work between two of them fits between the starts.
        for (const earlier of admitted.toReversed()) {
          between += BigInt(earlier.cost) * BigInt(limit.window)
          const gap = BigInt(release - earlier.release + 1) * BigInt(limit.quota)
          expect(between < gap).toBe(true)
        }
        expect(release).toBeGreaterThanOrEqual(admitted.at(-1)?.release ?? 0)
        admitted.push({ at: step.at, cost: step.cost, release })
      }
    })
  })

  it('goes on at an even pace: one unit each 200 ms for 5 per second', () => {
    const count = new Count(limit({ algorithm: 'leaky-bucket', quota: 5, window: 1000, burst: 20 }))
    const releases = Array.from({ length: 20 }, () => count.take(1, 7000).delay + 7000)
    expect(releases).toEqual(Array.from({ length: 20 }, (_, i) => 7000 + 200 * i))
  })
})

describe('the bounds are reached', () => {
  const made = (algorithm: AlgorithmName, quota: number, window: number): Count =>
    new Count(limit({ algorithm, quota, window }))

  /** Takes single units from `from` on, each as soon as it is allowed; counts those before `end`. */
  function greedy(count: Count, from: Millis, end: Millis): number {
    let units = 0
    for (let now = from; now < end && units < 1000;) {
      const { allowed, retryAfter } = count.take(1, now)
      if (allowed) units += 1
      // A wait of 0 would be a bug, and should end as a failure.
      else now += Math.max(1, retryAfter!)
    }
    return units
  }

  it.each([2, 10, 100])('sliding window counter: 2 * %i - 1 in a span of one window', (quota) => {
    const window = 60_000
    const edge = 30_000_000 * window
    const count = made('sliding-window', quota, window)
    // Everything in the last millisecond of a window, then one unit whenever one fits.
    expect(greedy(count, edge - 1, edge - 1 + window)).toBe(2 * quota - 1)
  })

  it('fixed window: twice the quota in two milliseconds', () => {
    const count = made('fixed-window', 100, 60_000)
    expect(greedy(count, 59_999, 60_001)).toBe(200)
  })

  it('sliding log: the quota, and not one more', () => {
    const count = made('sliding-log', 100, 60_000)
    expect(greedy(count, 59_999, 119_999)).toBe(100)
    expect(count.take(1, 119_999).allowed).toBe(true)
  })

  it.each(['token-bucket', 'gcra', 'leaky-bucket'] as const)(
    '%s: 199 of 100 per minute in one minute',
    (algorithm) => {
      expect(greedy(made(algorithm, 100, 60_000), 5000, 65_000)).toBe(199)
    },
  )

  it.each(['token-bucket', 'gcra'] as const)(
    '%s: at most 99 in any minute when burst and rate are 50',
    (algorithm) => {
      const count = new Count(limit({ algorithm, quota: 50, window: 60_000, burst: 50 }))
      expect(greedy(count, 5000, 65_000)).toBe(99)
    },
  )

  it('sliding window counter: a client silent for a whole window is refused, then gets one unit per tenth', () => {
    const count = made('sliding-window', 10, 1000)
    expect(count.take(10, 1000).allowed).toBe(true)
    expect(count.take(1, 2000)).toMatchObject({ allowed: false, retryAfter: 100, remaining: 0 })
    expect(greedy(count, 2000, 3000)).toBe(9)
  })
})
