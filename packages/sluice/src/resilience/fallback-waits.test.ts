// The waits of the fallback on keys that the store has refused: a caller that waits them out to the millisecond is allowed.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ALGORITHMS, limit, type Limit } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { withRefusalCache } from '../stores/refusal-cache/refusal-cache.ts'
import type { AsyncStore, Check } from '../stores/store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { FallbackCounts } from './fallback-counts.ts'

const START = 1_800_000_000_000
const SHARES = [1, 0.5, 0.29, 0.25]
const FAILURE = { cause: 'store-unreachable', retryAfter: 100, error: undefined } as const

/** The same numbers without the state of the count, as Redis tells them of a log. */
function stateless(verdict: Verdict): Verdict {
  const { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at } = verdict
  return { allowed, remaining, retryAfter, resetAfter, availableAfter, delay, at, source: 'store' }
}

/** A store that is spent by requests `gap` apart until it refuses, and the fallback for it. */
async function refusedBy(
  rule: Limit,
  share: number,
  cost: number,
  offset = 0,
  gap = 0,
  tells: 'state' | 'numbers' = 'state',
) {
  const clock = fakeClock(START + offset)
  const store = memoryStore({ clock })
  const remote: AsyncStore = {
    take: async (checks) =>
      tells === 'state' ? store.take(checks) : store.take(checks).map(stateless),
    peek: async (checks) => store.peek(checks),
    refund: async () => {},
    reset: async () => {},
    close: () => {},
  }
  const cached = withRefusalCache(remote, {
    hold: 250,
    clock,
  })
  const check: Check = { space: 'p', key: 'a', limit: rule, cost }
  const one = [{ ...check, cost: 1 }]
  for (let i = 0; (await cached.take(one))[0]!.allowed && i < 1000; i++) clock.advance(gap)
  await cached.take([check])
  const fallback = new FallbackCounts({
    share: { fallbackShare: share },
    knownRefusal: (asked) => cached.knownRefusal(asked),
    clock,
  })
  return { clock, check, take: () => fallback.take([check], FAILURE)[0]! }
}

/** Refusals before the first request that is allowed, each after the wait that the one before named. */
async function refusalsOf(world: Awaited<ReturnType<typeof refusedBy>>): Promise<number> {
  let refusals = 0
  for (let verdict = world.take(); !verdict.allowed && refusals < 10; verdict = world.take()) {
    refusals += 1
    world.clock.advance(verdict.retryAfter!)
  }
  return refusals
}

describe.each([
  ...ALGORITHMS.map((algorithm) => [algorithm, 'state'] as const),
  ['sliding-log', 'numbers'] as const,
])('%s by its %s', (algorithm, tells) => {
  it.each(SHARES)(
    'allows a caller that waits as long as the first refusal says, at a share of %d',
    async (share) => {
      for (const [quota, window] of [
        [3, '1min'],
        [60, '1min'],
        [100, '1min'],
        [4, '10s'],
      ] as const)
        for (const offset of [0, 427, 3100, 59_990])
          for (const gap of [0, 7, 211]) {
            const world = await refusedBy(
              limit({ algorithm, quota, window }),
              share,
              1,
              offset,
              gap,
              tells,
            )
            expect([quota, offset, gap, await refusalsOf(world)]).toEqual([quota, offset, gap, 1])
          }
    },
  )
})

it('a caller that waits is allowed, at any limit, cost and time, also if others are refused meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...ALGORITHMS),
      fc.boolean(),
      fc.constantFrom(...SHARES),
      fc.integer({ min: 2, max: 60 }),
      fc.integer({ min: 100, max: 60_000 }),
      fc.integer({ min: 1, max: 4 }),
      fc.nat(60_000),
      fc.nat(500),
      fc.nat(1500),
      fc.array(fc.integer({ min: 1, max: 999 }), { maxLength: 3 }),
      async (algorithm, isBare, share, quota, window, wanted, offset, gap, late, asks) => {
        const cost = Math.min(wanted, Math.max(1, Math.floor(quota * share)))
        const rule = limit({ algorithm, quota, window })
        const tells = isBare && algorithm === 'sliding-log' ? 'numbers' : 'state'
        const world = await refusedBy(rule, share, cost, offset, gap, tells)
        world.clock.advance(Math.floor((late * window) / 1000))
        const first = world.take()
        if (first.allowed) return
        let left = first.retryAfter!
        for (const part of asks) {
          const step = Math.min(left - 1, Math.floor((left * part) / 1000))
          world.clock.advance(step)
          left -= step
          // Of a log that tells its numbers alone it is not known what comes back meanwhile: it may be enough.
          if (world.take().allowed) return
        }
        world.clock.advance(left)
        expect(world.take().allowed).toBe(true)
      },
    ),
    { numRuns: 500 },
  )
})

it.each(['token-bucket', 'sliding-window', 'sliding-log'] as const)(
  'grants no more than its share of what comes back: %s',
  async (algorithm) => {
    for (const share of SHARES)
      for (const late of [0, 400, 30_000]) {
        const { clock, take } = await refusedBy(
          limit({ algorithm, quota: 100, window: '1min' }),
          share,
          1,
        )
        clock.advance(late)
        let granted = 0
        for (let i = 0; i < 3000; i++) {
          clock.advance(10)
          if (take().allowed) granted += 1
        }
        expect(granted).toBeLessThanOrEqual((share * (100 * (late + 30_000))) / 60_000 + 1e-6)
      }
  },
)

it('grants the whole share again when the store would, however small the share', async () => {
  const { clock, take } = await refusedBy(
    limit({ algorithm: 'fixed-window', quota: 3, window: '1min' }),
    0.25,
    1,
  )
  clock.advance(60_000)
  expect([take().allowed, take().allowed]).toEqual([true, false])
})
