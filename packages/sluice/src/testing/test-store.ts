// The conformance suite for stores: what every store must do, in any test runner.
import { algorithmOf, ALGORITHMS } from '../algorithms/table.ts'
import { limit, type LimitOptions, type RateText } from '../limit/limit.ts'
import type { Verdict } from '../limit/verdict.ts'
import type { Check, Store } from '../stores/store.ts'
import type { Millis } from '../time/clock.ts'
import { expectEqual } from './expect.ts'

/**
 * A store under test, with control over the time it sees.
 *
 * @example
 * ```ts
 * const clock = fakeClock()
 * const underTest: StoreUnderTest = { store: memoryStore({ clock }), advance: clock.advance }
 * ```
 */
export interface StoreUnderTest {
  readonly store: Store
  /** Moves the store's clock on. */
  readonly advance: (millis: Millis) => void | Promise<void>
  /** Ends what was started for this store; the store itself is closed by the suite. */
  readonly stop?: () => void | Promise<void>
}

/**
 * One case of the suite: a sentence, and a function that throws when the sentence is not true.
 *
 * @example
 * ```ts
 * const register = ({ name, run }: StoreCase) => it(name, run)
 * ```
 */
export interface StoreCase {
  readonly name: string
  readonly run: () => Promise<void>
}

/** What a case may use: a fresh store at the start of a window, and checks on keys of its own. */
interface Bench {
  readonly store: Store
  readonly advance: (millis: Millis) => void | Promise<void>
  readonly take: (...checks: Check[]) => Promise<readonly Verdict[]>
  readonly peek: (...checks: Check[]) => Promise<readonly Verdict[]>
}

/**
 * All cases for a store. Hand each to your runner: `for (const c of testStore(make)) it(c.name, c.run)`.
 * The clock of a store that `make` returns stands still at a multiple of one hour until it is advanced.
 *
 * @example
 * ```ts
 * for (const { name, run } of testStore(make)) it(name, run)
 * ```
 */
export function testStore(
  make: () => StoreUnderTest | Promise<StoreUnderTest>,
): readonly StoreCase[] {
  return cases.map(([name, body]) => ({
    name,
    run: async () => {
      const { store, advance, stop } = await make()
      try {
        await body({
          store,
          advance,
          take: async (...checks) => store.take(checks),
          peek: async (...checks) => store.peek(checks),
        })
      } finally {
        await store.close()
        await stop?.()
      }
    },
  }))
}

/** A check on the count `key` under a limit such as `3/min`. */
function on(key: string, rate: RateText, more: Partial<Check> & LimitOptions = {}): Check {
  const { algorithm = 'fixed-window', burst, ...rest } = more
  const made = limit(rate, burst === undefined ? { algorithm } : { algorithm, burst })
  return { space: `test-${made.algorithm}-${made.window}`, key, limit: made, cost: 1, ...rest }
}

const BUCKETS = ALGORITHMS.filter((algorithm) => algorithmOf({ algorithm }).hasBurst)

const allowedOf = (verdicts: readonly Verdict[]): readonly boolean[] =>
  verdicts.map((v) => v.allowed)
const remainingOf = (verdicts: readonly Verdict[]): readonly number[] =>
  verdicts.map((v) => v.remaining)

const cases: readonly (readonly [string, (bench: Bench) => Promise<void>])[] = [
  [
    'admits the quota and refuses the next, for every algorithm',
    async ({ take }) => {
      for (const algorithm of ALGORITHMS) {
        for (let left = 2; left >= 0; left--) {
          const [verdict] = await take(on('a', '3/min', { algorithm }))
          expectEqual(verdict?.allowed, true, `${algorithm} allowed`)
          expectEqual(verdict?.remaining, left, `${algorithm} remaining`)
        }
        expectEqual(allowedOf(await take(on('a', '3/min', { algorithm }))), [false], algorithm)
      }
    },
  ],
  [
    'refuses until retryAfter, then allows, for every algorithm',
    async ({ take, advance }) => {
      for (const algorithm of ALGORITHMS) {
        const check = on('a', '3/min', { algorithm })
        await take({ ...check, cost: 3 })
        const [refused] = await take({ ...check, cost: 2 })
        await advance((refused?.retryAfter as Millis) - 1)
        expectEqual(allowedOf(await take({ ...check, cost: 2 })), [false], `${algorithm} too early`)
        await advance(1)
        expectEqual(allowedOf(await take({ ...check, cost: 2 })), [true], `${algorithm} in time`)
      }
    },
  ],
  [
    'is as good as new after resetAfter, for every algorithm',
    async ({ take, peek, advance }) => {
      for (const algorithm of ALGORITHMS) {
        const check = on('a', '3/min', { algorithm })
        const [taken] = await take({ ...check, cost: 2 })
        await advance((taken?.resetAfter as Millis) - 1)
        expectEqual((await peek(check))[0]?.remaining === 3, false, `${algorithm} too early`)
        await advance(1)
        expectEqual(remainingOf(await peek(check)), [3], `${algorithm} in time`)
      }
    },
  ],
  [
    'says that a cost above the burst can never fit',
    async ({ take }) => {
      for (const algorithm of ALGORITHMS) {
        const [verdict] = await take(on('a', '3/min', { algorithm, cost: 4 }))
        expectEqual(
          [verdict?.allowed, verdict?.retryAfter, verdict?.remaining],
          [false, null, 3],
          algorithm,
        )
      }
    },
  ],
  [
    'refuses every cost above 0 when the quota is 0, and lets a cost of 0 look',
    async ({ take }) => {
      for (const algorithm of ALGORITHMS) {
        const check = on('a', '0/min', { algorithm })
        expectEqual(allowedOf(await take(check)), [false], algorithm)
        expectEqual(allowedOf(await take({ ...check, cost: 0 })), [true], algorithm)
      }
    },
  ],
  [
    'holds what a leaky bucket allows until the work in front of it has drained',
    async ({ take }) => {
      const check = on('a', '5/1s', { algorithm: 'leaky-bucket', burst: 3 })
      const delays: (number | undefined)[] = []
      for (let i = 0; i < 3; i++) delays.push((await take(check))[0]?.delay)
      expectEqual(delays, [0, 200, 400], 'delays')
      expectEqual((await take(check))[0]?.retryAfter, 200, 'retryAfter')
    },
  ],
  [
    'keeps counts apart by key and by space',
    async ({ take }) => {
      const a = on('a', '1/min')
      expectEqual(allowedOf(await take(a)), [true], 'a')
      expectEqual(allowedOf(await take(on('b', '1/min'))), [true], 'another key')
      expectEqual(allowedOf(await take({ ...a, space: 'other' })), [true], 'another space')
      expectEqual(allowedOf(await take(a)), [false], 'a again')
    },
  ],
  [
    'takes from all counts or from none',
    async ({ take, peek }) => {
      const wide = on('wide', '10/min')
      const narrow = on('narrow', '1/h')
      expectEqual(allowedOf(await take(wide, narrow)), [true, true], 'first')
      const refused = await take(wide, narrow)
      expectEqual(allowedOf(refused), [true, false], 'second')
      expectEqual(remainingOf(refused), [9, 0], 'what they say')
      expectEqual(remainingOf(await peek(wide, narrow)), [9, 0], 'what they hold')
      expectEqual(allowedOf(await take(narrow, wide)), [false, true], 'in the other order')
      expectEqual(remainingOf(await peek(wide)), [9], 'still')
    },
  ],
  [
    'takes of mixed algorithms are all or none',
    async ({ take, peek }) => {
      const checks = ALGORITHMS.map((algorithm) => on('a', '5/min', { algorithm, cost: 2 }))
      expectEqual(
        allowedOf(await take(...checks)),
        ALGORITHMS.map(() => true),
        'first',
      )
      expectEqual(
        allowedOf(await take(...checks)),
        ALGORITHMS.map(() => true),
        'second',
      )
      expectEqual(
        allowedOf(await take(...checks)),
        ALGORITHMS.map(() => false),
        'third',
      )
      const last = on('z', '1/min', { algorithm: 'gcra', cost: 2 })
      await take(...checks.map((check) => ({ ...check, cost: 1 })), last)
      expectEqual(
        remainingOf(await peek(...checks)),
        ALGORITHMS.map(() => 1),
        'nothing was charged',
      )
    },
  ],
  [
    'decides checks on one count in order',
    async ({ take, peek }) => {
      const check = on('a', '3/min', { cost: 2 })
      expectEqual(allowedOf(await take(check, check)), [true, false], 'together')
      expectEqual(remainingOf(await peek(check)), [3], 'none was charged')
      expectEqual(allowedOf(await take(check, { ...check, cost: 1 })), [true, true], 'what fits')
      expectEqual(remainingOf(await peek(check)), [0], 'both were charged')
    },
  ],
  [
    'never lets a shadow check refuse, and charges it only when all goes through',
    async ({ take, peek }) => {
      const enforced = on('a', '5/min')
      const shadow = on('s', '1/h', { shadow: true })
      expectEqual(allowedOf(await take(enforced, shadow)), [true, true], 'first')
      expectEqual(allowedOf(await take(enforced, shadow)), [true, false], 'second')
      expectEqual(
        remainingOf(await peek(enforced)),
        [3],
        'the enforced one is charged all the same',
      )
      const full = on('s2', '1/h', { shadow: true })
      await take(on('a', '5/min', { cost: 4 }), full)
      expectEqual(
        remainingOf(await peek(full)),
        [1],
        'a refused request does not charge the shadow',
      )
    },
  ],
  [
    'charges refused requests where a check asks for it, never beyond full',
    async ({ take, advance }) => {
      for (const algorithm of ALGORITHMS.slice(0, 2)) {
        const check = on('a', '2/min', { algorithm, countRefused: true })
        await take({ ...check, cost: 2 })
        await advance(29_000)
        const [refused] = await take(check)
        expectEqual(
          [refused?.allowed, refused?.retryAfter],
          [false, 30_000],
          `${algorithm}: hammering starts again`,
        )
        await advance(30_000)
        expectEqual(allowedOf(await take(check)), [true], `${algorithm}: waiting helps`)
      }
    },
  ],
  [
    'refuses what only two checks on one count together exceed, also where one counts refusals',
    async ({ take, peek }) => {
      for (const algorithm of ALGORITHMS) {
        const first = on('a', '10/min', { algorithm, cost: 9 })
        const counting = on('a', '10/min', { algorithm, cost: 2, countRefused: true })
        expectEqual(allowedOf(await take(first, counting)), [true, false], algorithm)
        expectEqual(remainingOf(await peek(first)), [8], `${algorithm}: the second was charged`)
        const one = on('b', '1/min', { algorithm })
        const refused = await take(one, { ...one, countRefused: true })
        expectEqual(refused[1]?.allowed, false, `${algorithm}: of one unit each`)
        expectEqual(remainingOf(await peek(one)), [0], `${algorithm}: one was charged`)
      }
    },
  ],
  [
    'counts a request that another check refuses where a check asks for it',
    async ({ take, peek }) => {
      const counting = on('a', '5/min', { countRefused: true })
      await take(counting, on('b', '0/min'))
      expectEqual(remainingOf(await peek(counting)), [4], 'remaining')
    },
  ],
  [
    'peeks without changing anything',
    async ({ take, peek }) => {
      const check = on('a', '3/min', { cost: 2 })
      for (let i = 0; i < 3; i++) {
        const [verdict] = await peek(check)
        expectEqual([verdict?.allowed, verdict?.remaining], [true, 3], 'fresh')
      }
      await take(check)
      const [verdict] = await peek(check)
      expectEqual([verdict?.allowed, verdict?.remaining], [false, 1], 'used')
    },
  ],
  [
    'gives back, never above full, for every algorithm',
    async ({ store, take, peek }) => {
      for (const algorithm of ALGORITHMS) {
        const check = on('a', '3/min', { algorithm })
        await take({ ...check, cost: 3 })
        await store.refund([{ ...check, cost: 2 }])
        expectEqual(remainingOf(await peek(check)), [2], `${algorithm} back`)
        await store.refund([{ ...check, cost: 3 }])
        expectEqual(remainingOf(await peek(check)), [3], `${algorithm} full`)
        await store.refund([{ ...check, cost: 3 }])
        expectEqual(remainingOf(await peek(check)), [3], `${algorithm} never more`)
      }
    },
  ],
  [
    'gives nothing back that time has given back already',
    async ({ store, take, peek, advance }) => {
      for (const algorithm of ALGORITHMS) {
        const check = on('a', '2/min', { algorithm })
        const [first] = await take({ ...check, cost: 2 })
        await advance(120_000)
        await take({ ...check, cost: 2 })
        await store.refund([{ ...check, cost: 2, takenAt: first?.at as Millis }])
        expectEqual(remainingOf(await peek(check)), [0], algorithm)
        await advance(180_000)
      }
    },
  ],
  [
    'forgets on reset',
    async ({ store, take, peek }) => {
      for (const algorithm of ALGORITHMS) {
        const check = on('a', '3/min', { algorithm, cost: 3 })
        await take(check)
        await store.reset([check])
        expectEqual(remainingOf(await peek(check)), [3], algorithm)
      }
    },
  ],
  [
    'keeps the count when quota and burst change, and reads one above the new limit as full',
    async ({ take, peek }) => {
      for (const algorithm of ALGORITHMS) {
        await take(on('a', '10/min', { algorithm, cost: 6 }))
        expectEqual(
          remainingOf(await peek(on('a', '20/min', { algorithm }))),
          [14],
          `${algorithm} raised`,
        )
        expectEqual(
          remainingOf(await peek(on('a', '4/min', { algorithm }))),
          [0],
          `${algorithm} lowered`,
        )
      }
    },
  ],
  [
    'loses nothing that a larger limit counted when a smaller one charges or gives back',
    async ({ store, take, peek, advance }) => {
      for (const algorithm of ALGORITHMS) {
        const [large, small] = [on('a', '100/min', { algorithm }), on('a', '5/min', { algorithm })]
        await take({ ...large, cost: 95 })
        expectEqual(allowedOf(await take({ ...small, countRefused: true })), [false], algorithm)
        expectEqual(remainingOf(await peek(large)), [5], `${algorithm} after a counted refusal`)
        await store.refund([small])
        expectEqual(remainingOf(await peek(large)), [6], `${algorithm} after giving back one`)
      }
      // 12 seconds give the smaller limit one unit of its own, which it takes.
      await advance(12_000)
      for (const algorithm of BUCKETS) {
        const [large, small] = [on('a', '100/min', { algorithm }), on('a', '5/min', { algorithm })]
        expectEqual(allowedOf(await take({ ...small, cost: 2 })), [false], `${algorithm} for two`)
        expectEqual(allowedOf(await take(small)), [true], `${algorithm} for one`)
        expectEqual(remainingOf(await peek(large)), [6], `${algorithm} after a charge`)
      }
    },
  ],
  [
    'takes keys of any characters',
    async ({ take }) => {
      const keys = [
        '',
        ' ',
        ':',
        '{a}',
        '}{',
        '\0',
        '\n',
        'ключ',
        '🙂',
        '__proto__',
        'constructor',
        'a'.repeat(500),
      ]
      for (const key of keys)
        expectEqual(allowedOf(await take(on(key, '1/min'))), [true], JSON.stringify(key))
      for (const key of keys)
        expectEqual(allowedOf(await take(on(key, '1/min'))), [false], JSON.stringify(key))
    },
  ],
  [
    'answers an empty list with an empty list',
    async ({ store, take, peek }) => {
      expectEqual(await take(), [], 'take')
      expectEqual(await peek(), [], 'peek')
      await store.refund([])
      await store.reset([])
    },
  ],
  [
    'holds windows of 40 days',
    async ({ take, advance }) => {
      const check = on('a', '1/40d')
      await take(check)
      const [refused] = await take(check)
      expectEqual((refused?.retryAfter as Millis) > 0, true, 'refused')
      await advance(refused?.retryAfter as Millis)
      expectEqual(allowedOf(await take(check)), [true], 'afterwards')
    },
  ],
]
