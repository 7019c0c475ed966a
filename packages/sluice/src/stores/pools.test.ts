import { describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { matchPolicy } from '../limiter/match-policy.ts'
import { tryParsePolicy } from '../policy/parse.ts'
import type { Policy } from '../policy/policy.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { memoryStore } from './memory/memory-store.ts'

const api = {
  name: 'api',
  by: ['user'],
  limit: { quota: 2, window: '1min', algorithm: 'fixed-window' },
  pools: [
    { name: 'credits', limit: { quota: 3, window: '30d', algorithm: 'fixed-window' } },
    { name: 'gift', limit: { quota: 1, window: '1d', algorithm: 'fixed-window' } },
  ],
} as const

function limiterOf(...rules: Policy['rules']) {
  const clock = fakeClock(1_800_000_000_000)
  const limiter = createLimiter({
    policy: { name: 'p', rules: [api, ...rules] },
    store: memoryStore({ clock }),
  })
  return { clock, limiter }
}

describe('a rule with pools', () => {
  it('draws from its limit, then from each pool in turn, then refuses', () => {
    const { limiter } = limiterOf()
    const paid = Array.from({ length: 7 }, () => {
      const { allowed, pools } = limiter.check({ user: 'a' })
      return allowed ? (pools?.['api'] ?? 'limit') : 'refused'
    })
    expect(paid).toEqual(['limit', 'limit', 'credits', 'credits', 'credits', 'gift', 'refused'])
  })

  it('says which pool paid, with its limit and numbers', () => {
    const { limiter } = limiterOf()
    limiter.check({ user: 'a' }, 2)
    const decision = limiter.check({ user: 'a' }, 2)
    expect(decision).toMatchObject({ allowed: true, remaining: 1, pools: { api: 'credits' } })
    expect(decision.limit).toMatchObject({ quota: 3 })
    expect(decision.outcomes[0]).toMatchObject({ rule: 'api', pool: 'credits', remaining: 1 })
    expect(JSON.parse(JSON.stringify(decision))).toMatchObject({ pools: { api: 'credits' } })
  })

  it('is paid by one pool as a whole: what no pool holds is refused', () => {
    const { limiter } = limiterOf()
    limiter.check({ user: 'a' }, 2)
    limiter.check({ user: 'a' }, 2)
    expect(limiter.check({ user: 'a' }, 2)).toMatchObject({ allowed: false })
    expect(limiter.check({ user: 'a' }, 1)).toMatchObject({ pools: { api: 'credits' } })
  })

  it('refuses until the first of limit and pools has room', () => {
    const { limiter, clock } = limiterOf()
    for (let i = 0; i < 6; i++) limiter.check({ user: 'a' })
    const { retryAfter, pools } = limiter.check({ user: 'a' })
    expect(pools).toBeUndefined()
    clock.advance(retryAfter! - 1)
    expect(limiter.check({ user: 'a' }).allowed).toBe(false)
    clock.advance(1)
    expect(limiter.check({ user: 'a' }).allowed).toBe(true)
  })

  it('charges nothing, of no pool, when another rule refuses', () => {
    const { limiter } = limiterOf({ name: 'shut', by: [], limit: '0/min' })
    limiter.check({ user: 'a' }, 3)
    expect(limiter.peek({ user: 'a' }, 3).outcomes[0]).toMatchObject({
      allowed: true,
      pool: 'credits',
      remaining: 3,
    })
  })

  it('charges all rules or none when a pool pays', () => {
    const { limiter } = limiterOf({ name: 'all', by: [], limit: '3/min' })
    limiter.check({ user: 'a' }, 2)
    expect(limiter.check({ user: 'a' }, 1).outcomes.map(({ remaining }) => remaining)).toEqual([
      2, 0,
    ])
  })

  it('hands units back to the pool that paid', () => {
    const { limiter } = limiterOf()
    limiter.check({ user: 'a' }, 2)
    const { at, pools } = limiter.check({ user: 'a' }, 3)
    limiter.refund({ user: 'a' }, 3, at, pools)
    expect(limiter.peek({ user: 'a' }, 3)).toMatchObject({ allowed: true, remaining: 3 })
    expect(limiter.peek({ user: 'a' }, 1).outcomes[0]!.pool).toBe('credits')
  })

  it.each([{ api: 'cash' }, { other: 'credits' }, 'credits', null] as const)(
    'has no pool %j to refund to',
    (pools) => {
      const { limiter } = limiterOf()
      const wrong = pools as unknown as Record<string, string>
      expect(() => limiter.refund({ user: 'a' }, 1, undefined, wrong)).toThrow(/pools names the/)
    },
  )

  it('forgets its pools with its limit when it is reset', () => {
    const { limiter } = limiterOf()
    for (let i = 0; i < 6; i++) limiter.check({ user: 'a' })
    limiter.reset({ user: 'a' })
    expect(limiter.check({ user: 'a' }, 3)).toMatchObject({ pools: { api: 'credits' } })
  })

  it('is refused by matchPolicy, whose checks a plain store decides', () => {
    expect(() => matchPolicy({ name: 'p', rules: [api] })).toThrow(/has a lockout or pools/)
  })
})

describe('mistakes in pools', () => {
  it.each([
    [{ pools: 'credits' }, 'rules[0].pools'],
    [{ pools: [] }, 'rules[0].pools'],
    [
      { pools: Array.from({ length: 9 }, (_, i) => ({ name: `p${i}`, limit: '1/s' })) },
      'rules[0].pools',
    ],
    [{ pools: [null] }, 'rules[0].pools[0]'],
    [{ pools: [{ limit: '1/s' }] }, 'rules[0].pools[0].name'],
    [{ pools: [{ name: 'a' }] }, 'rules[0].pools[0].limit'],
    [{ pools: [{ name: 'a', limit: '-1/s' }] }, 'rules[0].pools[0].limit'],
    [
      { pools: [{ name: 'a', limit: { quota: Number.NaN, window: '1s' } }] },
      'rules[0].pools[0].limit.quota',
    ],
    [{ pools: [{ name: 'a', limit: '1/s', quota: 1 }] }, 'rules[0].pools[0].quota'],
    [
      {
        pools: [
          { name: 'a', limit: '1/s' },
          { name: 'a', limit: '2/s' },
        ],
      },
      'rules[0].pools[1].name',
    ],
    [{ shadow: true }, 'rules[0].pools'],
    [{ onExceed: 'mark' }, 'rules[0].pools'],
    [{ countRefused: true }, 'rules[0].pools'],
    [{ lockout: { after: 1, for: '1s' } }, 'rules[0].pools'],
    [{ coordination: 'leased' }, 'rules[0].pools'],
    [{ hold: '1min' }, 'rules[0].pools'],
  ])('%j is one at %s', (more, path) => {
    const pools = [{ name: 'a', limit: '1/s' }]
    const rule = { name: 'r', by: ['user'], limit: '1/s', pools, ...more }
    const { problems } = tryParsePolicy({ name: 'p', rules: [rule] })
    expect(problems.map((problem) => problem.path)).toContain(path)
  })
})
