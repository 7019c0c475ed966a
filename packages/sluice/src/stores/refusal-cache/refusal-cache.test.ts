import { describe, expect, it } from 'vitest'
import { cachedStore, HOLD, numbers, on } from '../../../test/refusal-cache/cached-store.ts'
import { limit } from '../../limit/limit.ts'
import type { Check } from '../store.ts'

describe('a store with a refusal cache', () => {
  it('asks once for many refusals, and answers what the store would', async () => {
    const { store, asked, others, clock } = cachedStore()
    await store.take([on('a', { cost: 10 })])
    expect((await store.take([on('a')]))[0]!.allowed).toBe(false)
    expect(asked.length).toBe(2)
    for (let i = 0; i < 5; i++) {
      clock.advance(40)
      const verdicts = store.take([on('a')])
      expect(verdicts).not.toBeInstanceOf(Promise)
      expect(numbers(await verdicts)).toEqual(numbers(others.peek([on('a')])))
      expect((await verdicts).map(({ source }) => source)).toEqual(['cache'])
    }
    expect(asked.length).toBe(2)
  })

  it('asks again after the hold, and at the instant at which time has made room', async () => {
    const { store, asked, clock } = cachedStore()
    await store.take([on('a', { cost: 10 })])
    await store.take([on('a')])
    clock.advance(HOLD - 1)
    await store.take([on('a')])
    expect(asked.length).toBe(2)
    clock.advance(1)
    await store.take([on('a')])
    expect(asked.length).toBe(3)
    // 10 a minute is one every 6 s.
    clock.advance(6000 - HOLD - 100)
    expect((await store.take([on('a')]))[0]!.retryAfter).toBe(100)
    clock.advance(99)
    expect((await store.take([on('a')]))[0]!.allowed).toBe(false)
    clock.advance(1)
    expect((await store.take([on('a')]))[0]!.allowed).toBe(true)
  })

  it.each<[string, Partial<Check>, number]>([
    ['the same cost', { cost: 5 }, 0],
    ['a larger cost', { cost: 6 }, 0],
    ['a cost that never fits', { cost: 11 }, 0],
    ['a smaller cost that does not fit either', { cost: 4 }, 0],
    ['a cost that fits', { cost: 3 }, 1],
    ['a look', { cost: 0 }, 1],
    ['another key', { key: 'b' }, 1],
    ['another rule', { space: 'two' }, 1],
    ['another limit', { limit: limit('20/min') }, 1],
    ['a check that counts refusals', { cost: 5, countRefused: true }, 1],
    ['a shadow check', { cost: 5, shadow: true }, 1],
  ])('of a refused cost of 5 with 3 left, asks about %s', async (_, more, times) => {
    const { store, asked, others, clock } = cachedStore()
    await store.take([on('a', { cost: 7 })])
    await store.take([on('a', { cost: 5 })])
    clock.advance(10)
    const expected = numbers(others.peek([on('a', more)]))
    const verdicts = await store.take([on('a', more)])
    expect(asked.length - 2).toBe(times)
    // Where it did not ask, nothing was taken.
    expect([times, numbers(times === 0 ? verdicts : [])]).toEqual([
      times,
      times === 0 ? expected : [],
    ])
  })

  it.each(['refund', 'reset'] as const)('sees at once what this process %ss', async (how) => {
    const { store } = cachedStore()
    await store.take([on('a', { cost: 10 })])
    await store.take([on('a')])
    await store[how]([on('a')])
    expect((await store.take([on('a')]))[0]!.allowed).toBe(true)
  })

  it.each(['refund', 'reset'] as const)('sees what others %s after the hold', async (how) => {
    const { store, others, clock } = cachedStore()
    await store.take([on('a', { cost: 10 })])
    await store.take([on('a')])
    others[how]([on('a')])
    clock.advance(HOLD - 1)
    expect((await store.take([on('a')]))[0]!.allowed).toBe(false)
    clock.advance(1)
    expect((await store.take([on('a')]))[0]!.allowed).toBe(true)
  })

  it.each(['refund', 'reset'] as const)(
    'sees at once what this process %ss of a second count that refused',
    async (how) => {
      const { store, clock } = cachedStore()
      const brief = on('a', { limit: limit({ quota: 1, window: 100 }) })
      const long = on('b', { space: 'two' })
      await store.take([brief, { ...long, cost: 10 }])
      await store.take([brief, long])
      await store[how]([long])
      clock.advance(100)
      const verdicts = await store.take([brief, long])
      expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true])
    },
  )

  it.each(['refund', 'reset'] as const)(
    'sees what this process %ss of a second count while the refusal is on its way',
    async (how) => {
      const { store, clock, holdBack } = cachedStore()
      const brief = on('a', { limit: limit({ quota: 1, window: 100 }) })
      const long = on('b', { space: 'two' })
      await store.take([brief, { ...long, cost: 10 }])
      const release = holdBack()
      const refused = store.take([brief, long])
      await store[how]([long])
      release()
      await refused
      clock.advance(100)
      const verdicts = await store.take([brief, long])
      expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true])
    },
  )

  it('does not remember a refusal that was on its way when units came back', async () => {
    const { store, holdBack } = cachedStore()
    await store.take([on('a', { cost: 10 })])
    const release = holdBack()
    const refused = store.take([on('a')])
    await store.refund([on('a')])
    release()
    expect((await refused)[0]!.allowed).toBe(false)
    expect((await store.take([on('a')]))[0]!.allowed).toBe(true)
  })

  it('never refuses for longer than the store, however long the answer took', async () => {
    const { store, holdBack, clock, asked } = cachedStore()
    const brief = limit({ quota: 1, window: 100 })
    await store.take([on('a', { limit: brief })])
    const release = holdBack()
    const refused = store.take([on('a', { limit: brief })])
    clock.advance(40)
    release()
    await refused
    clock.advance(59)
    const [verdict] = await store.take([on('a', { limit: brief })])
    expect(asked.length).toBe(2)
    // The decision may have been made as late as the answer came: a caller that waits for it comes in time.
    expect(verdict!.retryAfter).toBe(41)
    clock.advance(1)
    expect((await store.take([on('a', { limit: brief })]))[0]!.allowed).toBe(true)
  })

  it('refuses a request of several rules only when one with a say is known to refuse', async () => {
    const { store, asked, others } = cachedStore()
    const rules = (cost: number) => [on('a', { cost }), on('everyone', { space: 'two', cost: 1 })]
    await store.take(rules(10))
    await store.take(rules(1))
    expect(asked.length).toBe(2)
    const verdicts = await store.take(rules(1))
    expect(asked.length).toBe(2)
    expect(numbers(verdicts)).toEqual(numbers(others.peek(rules(1))))
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([false, true])
    // Alone, the other rule has room.
    await store.take([rules(1)[1]!])
    expect(asked.length).toBe(3)
  })

  it.each(['first', 'last'])(
    'remembers what it told each of those who share a spent count, their %s',
    async (place) => {
      const { store, asked, others } = cachedStore()
      const everyone = on('everyone', { space: 'two' })
      others.take([{ ...everyone, cost: 10 }])
      const users = ['ann', 'bob', 'eve']
      const ask = async (): Promise<void> => {
        for (const user of users) {
          const checks = place === 'first' ? [everyone, on(user)] : [on(user), everyone]
          const verdicts = await store.take(checks)
          expect(verdicts.every(({ allowed }) => allowed)).toBe(false)
        }
      }
      await ask()
      expect(asked.length).toBe(3)
      await ask()
      await ask()
      expect(asked.length).toBe(3)
      expect(store.knownRefusal(everyone)?.verdict.allowed).toBe(false)
      expect(store.knownRefusal(on('ann'))?.verdict.allowed).toBe(true)
      await store.refund([everyone])
      expect((await store.take([on('ann'), everyone])).every(({ allowed }) => allowed)).toBe(true)
      expect(store.knownRefusal(everyone)).toBe(undefined)
    },
  )

  it('reflects what a call of the same turn took after the refusal', async () => {
    const { store, asked, others } = cachedStore()
    const perHour = limit('1000/h')
    const take = (cost: number) => store.take([on('k', { limit: perHour, cost })])
    await take(1)
    await Promise.all([take(1000), take(500)])
    const [verdict] = await take(1000)
    expect(asked.length).toBe(3)
    expect(verdict).toMatchObject({ allowed: false, remaining: 499, retryAfter: 1_803_600 })
    const expected = numbers(others.peek([on('k', { limit: perHour, cost: 1000 })]))
    expect(numbers([verdict!])).toEqual(expected)
  })

  it('reflects what another request took from a count that both share', async () => {
    const { store, asked } = cachedStore()
    const perHour = limit('3/h')
    const request = (user: string, cost: number) => [
      on('tenant', { space: 'tenant', limit: perHour, cost }),
      on(user, { cost }),
    ]
    await store.take(request('a', 2))
    expect((await store.take(request('a', 2)))[0]!.retryAfter).toBe(1_200_000)
    await store.take(request('b', 1))
    expect((await store.take(request('a', 2)))[0]!.retryAfter).toBe(2_400_000)
    expect(asked.length).toBe(3)
  })

  it('asks about two checks on one count, of which a refusal takes neither', async () => {
    const { store, asked, others } = cachedStore()
    const twins = [on('a', { cost: 6 }), on('a', { cost: 6 })]
    await store.take(twins)
    await store.take(twins)
    expect(asked.length).toBe(2)
    expect((await store.take([on('a', { cost: 10 })]))[0]!.allowed).toBe(true)
    expect(others.peek([on('a')])[0]!.remaining).toBe(0)
  })

  it('ignores an answer that is older than the one it holds', async () => {
    const { store, clock, holdBack, asked } = cachedStore()
    const release = holdBack()
    const early = store.take([on('a', { cost: 4 })])
    holdBack()()
    clock.advance(1)
    await store.take([on('a', { cost: 7 })])
    release()
    await early
    expect((await store.take([on('a', { cost: 7 })]))[0]!.remaining).toBe(6)
    expect(asked.length).toBe(2)
  })

  it('lets the store decide when only a shadow rule refuses', async () => {
    const { store, asked } = cachedStore()
    const rules = [on('a', { shadow: true, cost: 11 }), on('everyone', { space: 'two' })]
    await store.take(rules)
    await store.take(rules)
    expect(asked.length).toBe(2)
  })

  it('reminds a store that may forget of what was spent, once the hold is over', async () => {
    const { store, asked, clock } = cachedStore({ mayDropCounts: true })
    await store.take([on('a', { cost: 10 })])
    await store.take([on('a')])
    clock.advance(HOLD)
    await store.take([on('a')])
    expect(asked.map(([check]) => check!.lastState?.used)).toEqual([undefined, undefined, 600_000])
    clock.advance(6000)
    await store.take([on('a')])
    expect(asked.at(-1)![0]!.lastState).toBe(undefined)
  })

  it('remembers a bounded number of refusals, the newest', async () => {
    const { store, asked, others } = cachedStore()
    const keys = Array.from({ length: 65_537 }, (_, i) => `key ${i}`)
    // Several in one request, since there are many.
    for (let i = 0; i < keys.length; i += 16) {
      const some = keys.slice(i, i + 16)
      others.take(some.map((key) => on(key, { cost: 10 })))
      await store.take(some.map((key) => on(key)))
    }
    const before = asked.length
    await store.take([on(keys.at(-32_768)!)])
    await store.take([on(keys.at(-1)!)])
    expect(asked.length).toBe(before)
    await store.take([on(keys[0]!)])
    expect(asked.length).toBe(before + 1)
  })

  it('forgets nothing that it must know when very many keys are given back', async () => {
    const { store, holdBack } = cachedStore()
    await store.take([on('a', { cost: 10 })])
    const release = holdBack()
    const refused = store.take([on('a')])
    await store.refund([on('a')])
    for (let i = 0; i < 16_385; i++) await store.refund([on(`other ${i}`)])
    release()
    await refused
    expect((await store.take([on('a')]))[0]!.allowed).toBe(true)
  })
})
