// Refusals from the cache against a store that is asked every time: the same answers, whatever happens.
import { describe, expect, it } from 'vitest'
import { ALGORITHMS, limit } from '../../src/limit/limit.ts'
import type { Verdict } from '../../src/limit/verdict.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { withRefusalCache } from '../../src/stores/refusal-cache/refusal-cache.ts'
import type { AsyncStore, Check } from '../../src/stores/store.ts'
import { Random } from '../redis/random.ts'
import { cachedStore, HOLD, numbers, on, START } from './cached-store.ts'

describe.each(ALGORITHMS)('on a random walk by %s', (algorithm) => {
  it('answers in every field as a store that is asked every time', async () => {
    const random = new Random(algorithm.length)
    const { store, clock, others, asked } = cachedStore()
    const exact = memoryStore({ clock })
    const own = limit({ quota: 5, window: 1000 }, { algorithm })
    const answers: unknown[] = []
    const expected: unknown[] = []
    for (let step = 0; step < 5000; step++) {
      const check = on(`key ${Math.floor(random.next() * 3)}`, {
        limit: own,
        cost: Math.floor(random.next() * 7),
      })
      const dice = random.next()
      if (dice < 0.9) {
        expected.push(numbers(exact.take([check])))
        answers.push(numbers(await store.take([check])))
      } else if (dice < 0.97) {
        exact.refund([check])
        await store.refund([check])
      } else {
        exact.reset([check])
        await store.reset([check])
      }
      if (random.next() < 0.3) clock.advance(Math.floor(random.next() * 300))
    }
    expect(answers).toEqual(expected)
    expect(asked.length).toBeLessThan(answers.length)
    expect(asked.length).toBeGreaterThan(answers.length / 4)
    expect(numbers(others.peek([on('key 0', { limit: own })]))).toEqual(
      numbers(exact.peek([on('key 0', { limit: own })])),
    )
  })
})

describe('on a random walk of requests of several rules', () => {
  const limits = ALGORITHMS.flatMap((algorithm) =>
    [3, 5].map((quota) => limit({ quota, window: 500 }, { algorithm })),
  )

  /** One to three checks on different counts: of any limit, some shadow, some that count refusals. */
  function request(random: Random): readonly Check[] {
    const byCount = new Map<string, Check>()
    for (let i = random.whole(1, 3); i > 0; i--) {
      const own = random.pick(limits)
      const check = on(random.pick(['a', 'b']), {
        space: own.algorithm,
        limit: own,
        cost: random.whole(0, 3),
        shadow: random.chance(0.15),
        countRefused: random.chance(0.1),
      })
      byCount.set(`${check.space} ${check.key}`, check)
    }
    return [...byCount.values()]
  }

  it.each([1, 2, 3, 4])('allows what a store allows that is asked every time: %d', async (seed) => {
    const random = new Random(seed)
    const { store, clock, asked } = cachedStore()
    const exact = memoryStore({ clock })
    let times = 0
    for (let step = 0; step < 2000; step++) {
      const checks = request(random)
      const isAllowed = (verdicts: readonly Verdict[]): boolean =>
        checks.every(({ shadow }, i) => shadow === true || verdicts[i]!.allowed)
      for (let again = random.whole(1, 4); again > 0; again--) {
        const expected = isAllowed(exact.take(checks))
        expect([step, isAllowed(await store.take(checks))]).toEqual([step, expected])
        times += 1
        if (random.chance(0.3)) clock.advance(random.whole(0, 80))
        const how = random.chance(0.1) ? 'refund' : random.chance(0.02) ? 'reset' : undefined
        if (how === undefined) continue
        const one = [random.pick(checks)]
        exact[how](one)
        await store[how](one)
      }
    }
    expect(asked.length).toBeLessThan(0.9 * times)
  })
})

describe('on a random walk of several calls in one turn', () => {
  const limits = ALGORITHMS.map((algorithm) => limit({ quota: 12, window: 800 }, { algorithm }))

  /** A rule for everyone and a rule per user, or one of them alone, by two different algorithms. */
  function request(random: Random): readonly Check[] {
    const [first, second] = [random.pick(limits), random.pick(limits)]
    const cost = random.pick([1, 1, 2, 5, 9, 13])
    const everyone = on('everyone', { space: `all ${first.algorithm}`, limit: first, cost })
    const user = on(random.pick(['ann', 'bob']), {
      space: `user ${second.algorithm}`,
      limit: second,
      cost: random.pick([cost, 1]),
      shadow: random.chance(0.1),
      countRefused: random.chance(0.05),
    })
    return random.pick([[everyone, user], [user, everyone], [everyone], [user]])
  }

  it.each([1, 2, 3, 4, 5, 6])(
    'answers in every field as a store that is asked every time: %d',
    async (seed) => {
      const random = new Random(seed)
      const { store, clock, asked } = cachedStore()
      const exact = memoryStore({ clock })
      let times = 0
      for (let step = 0; step < 1500; step++) {
        const turn = Array.from({ length: random.whole(1, 5) }, () => request(random))
        times += turn.length
        const answers = turn.map((checks) => store.take(checks))
        // A call answered from the cache is decided before the calls of its turn that are still under way.
        const isCached = (i: number): boolean => !(answers[i] instanceof Promise)
        const order = [...turn.keys()].toSorted((a, b) => Number(isCached(b)) - Number(isCached(a)))
        const expected: unknown[] = []
        for (const i of order) expected[i] = numbers(exact.take(turn[i]!))
        const given = (await Promise.all(answers.map(async (answer) => answer))).map(numbers)
        expect([step, given]).toEqual([step, expected])
        if (random.chance(0.4)) clock.advance(random.whole(0, 120))
        if (random.chance(0.05)) {
          const back = [random.pick(request(random))]
          exact.refund(back)
          await store.refund(back)
        }
      }
      expect(asked.length).toBeLessThan(0.9 * times)
    },
  )
})

describe('clocks whose milliseconds begin at other moments', () => {
  it.each([0, 0.25, 0.5, 0.75])(
    'keeps what it tells when the milliseconds of the store begin %d later than ours',
    async (offset) => {
      let time = START
      const counts = memoryStore({ clock: () => Math.floor(time + offset) })
      const brief = on('a', { limit: limit({ quota: 1, window: 40 }) })
      let isAsked = false
      const store: AsyncStore = {
        take: async (checks) => {
          isAsked = true
          return counts.take(checks)
        },
        peek: async (checks) => counts.peek(checks),
        refund: async (checks) => counts.refund(checks),
        reset: async (checks) => counts.reset(checks),
        close: async () => counts.close(),
      }
      const clock = () => time
      const options = { hold: HOLD, clock }
      const own = withRefusalCache(store, options)
      const random = new Random(1)
      for (let i = 0; i < 500; i++) {
        time += random.next() * 100
        await own.take([brief])
        await own.take([brief])
        time += random.next() * 50
        isAsked = false
        const [verdict] = await own.take([brief])
        // From memory, the store refuses too.
        expect(isAsked || !counts.peek([brief])[0]!.allowed).toBe(true)
        if (verdict!.allowed) continue
        time += verdict!.retryAfter!
        expect((await own.take([brief]))[0]!.allowed).toBe(true)
      }
    },
  )
})
