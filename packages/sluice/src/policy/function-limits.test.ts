import { describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { parsePolicy } from './parse.ts'
import type { LimitOrNone } from './policy.ts'

/** A limiter whose function returns the attribute `plan` as it is. */
function byFunction(choose: (attributes: Readonly<Record<string, unknown>>) => unknown) {
  return createLimiter({
    policy: {
      name: 'api',
      rules: [{ name: 'per-user', by: ['user'], limit: choose as () => LimitOrNone }],
    },
  })
}

describe('a limit by function', () => {
  it('chooses the limit of each request by its attributes', () => {
    const limiter = byFunction(({ plan }) =>
      plan === 'pro' ? '100/min' : { quota: 2, window: '1min' },
    )
    expect(limiter.check({ user: 'ann', plan: 'pro' }).remaining).toBe(99)
    expect(limiter.check({ user: 'bob' }).remaining).toBe(1)
    // The same count under another quota: what was taken stays taken.
    expect(limiter.check({ user: 'bob', plan: 'pro' }).remaining).toBe(98)
  })

  it('counts nothing where it says unlimited', () => {
    const limiter = byFunction(() => 'unlimited')
    expect(limiter.check({ user: 'ann' }).reason).toBe('no-rule')
  })

  it('comes after overrides and tiers', () => {
    const limiter = createLimiter({
      policy: {
        name: 'api',
        rules: [
          {
            name: 'per-user',
            by: ['user'],
            limit: () => '1/min',
            tiers: { attribute: 'plan', limits: { pro: '20/min' } },
            overrides: [{ when: { user: 'ann' }, limit: '300/min' }],
          },
        ],
      },
    })
    expect(limiter.check({ user: 'ann', plan: 'pro' }).limit?.quota).toBe(300)
    expect(limiter.check({ user: 'bob', plan: 'pro' }).limit?.quota).toBe(20)
    expect(limiter.check({ user: 'eve' }).limit?.quota).toBe(1)
  })

  it('works for a bare limit', () => {
    const limiter = createLimiter({ limit: ({ key }) => (key === 'a' ? '5/min' : '1/min') })
    expect(limiter.check('a').remaining).toBe(4)
    expect(limiter.check('b').remaining).toBe(0)
  })

  it('gives equal values one limit, so that stores see the same one', () => {
    const limiter = byFunction(() => ({ quota: 5, window: 1000 }))
    const first = limiter.check({ user: 'a' }).limit
    expect(limiter.check({ user: 'b' }).limit).toBe(first)
  })

  it('remembers a bounded number of values', () => {
    let quota = 0
    const limiter = byFunction(() => `${++quota}/min`)
    for (let i = 0; i < 5000; i++) expect(limiter.check({ user: `${i}` }).limit?.quota).toBe(i + 1)
    // One that was pushed out is made anew.
    quota = 0
    const first = limiter.check({ user: 'a' }).limit
    for (let i = 0; i < 1001; i++) limiter.check({ user: 'a' })
    quota = 0
    const again = limiter.check({ user: 'a' }).limit
    expect(again).toEqual(first)
    expect(again).not.toBe(first)
  })

  it('keeps a count for the slowest limit that it returned', () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const limiter = createLimiter({
      store,
      policy: {
        name: 'api',
        rules: [
          {
            name: 'per-user',
            by: ['user'],
            limit: ({ plan }) => (plan === 'basic' ? '1/10s' : '10/10s'),
          },
        ],
      },
    })
    limiter.check({ user: 'eve', plan: 'basic' })
    limiter.check({ user: 'ann', plan: 'pro' })
    clock.advance(2300)
    // At ten per 10 s the count would be forgotten by now; adding keys looks for such counts.
    for (let i = 0; i < 100; i++) limiter.check({ user: `u${i}`, plan: 'pro' })
    expect(limiter.check({ user: 'ann', plan: 'basic' }).allowed).toBe(false)
  })

  it.each([
    ['100 per min', /limit function of rule "per-user": limit "100 per min"/],
    [undefined, /returned undefined/],
    [100, /returned 100/],
    [Promise.resolve('1/min'), /returned .*at once/],
    [{ quota: -1, window: '1min' }, /quota is -1/],
  ])('throws for %s, and counts nothing', (value, message) => {
    let current: unknown = value
    const limiter = byFunction(() => current)
    expect(() => limiter.check({ user: 'ann' })).toThrow(message)
    current = '2/min'
    expect(limiter.check({ user: 'ann' }).remaining).toBe(1)
  })

  it('is refused in a policy that is data', () => {
    const rules = [{ name: 'r', by: [], limit: () => '1/min' }]
    expect(() => parsePolicy({ name: 'p', rules })).toThrow(/rules\[0\]\.limit/)
  })
})
