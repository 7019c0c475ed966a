import { describe, expect, it } from 'vitest'
import { ALGORITHMS, limit } from '../limit/limit.ts'
import type { Rule } from '../policy/policy.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { createLimiter } from './create-limiter.ts'

const START = 1_800_000_000_000

function limited(...rules: Rule[]) {
  const clock = fakeClock(START)
  const store = memoryStore({ clock })
  const limiter = createLimiter({ policy: { name: 'test', rules }, store })
  const left = (attributes: Record<string, string>) =>
    limiter.peek(attributes).outcomes.map(({ remaining }) => remaining)
  return { limiter, clock, store, left }
}

const user: Rule = { name: 'user', by: ['user'], limit: '10/min' }
const all: Rule = { name: 'all', by: [], limit: '100/min' }
const request = { user: 'a' }

describe('peek', () => {
  it('says what check would say, and changes nothing', () => {
    const { limiter, store } = limited(user, all)
    for (let i = 0; i < 3; i++) {
      expect(limiter.peek(request, 10)).toMatchObject({ allowed: true, remaining: 10 })
      expect(limiter.peek(request, 11)).toMatchObject({ allowed: false, retryAfter: null })
    }
    expect(store.stats().keys).toBe(0)
    limiter.check(request, 8)
    expect(limiter.peek(request, 3)).toMatchObject({
      allowed: false,
      reason: 'over-limit',
      rule: 'user',
      remaining: 2,
      retryAfter: 6000,
    })
    expect(limiter.peek(request).allowed).toBe(true)
  })

  it('peeks at every rule by itself', () => {
    const { limiter } = limited(user, { ...all, limit: '5/min' })
    const { outcomes } = limiter.peek(request, 7)
    expect(outcomes.map(({ allowed }) => allowed)).toEqual([true, false])
  })
})

describe('refund', () => {
  it.each(ALGORITHMS)(
    'hands back to every rule that applies, never above full: %s',
    (algorithm) => {
      const rules = [user, all].map((rule) => ({
        ...rule,
        limit: limit(rule.limit as '10/min', { algorithm }),
      }))
      const { limiter, left, store } = limited(...rules)
      limiter.check(request, 6)
      expect(left(request)).toEqual([4, 94])
      limiter.refund(request, 2)
      expect(left(request)).toEqual([6, 96])
      limiter.refund(request)
      expect(left(request)).toEqual([7, 97])
      limiter.refund(request, 50)
      limiter.refund(request, 50)
      expect(left(request)).toEqual([10, 100])
      expect(store.stats().keys).toBe(0)
    },
  )

  it('never mints units for a key that has none out', () => {
    const { limiter, left, store } = limited(user)
    limiter.refund(request, 1000)
    expect(left(request)).toEqual([10])
    expect(store.stats().keys).toBe(0)
  })

  it.each(ALGORITHMS)('puts nothing into a later window than the charge: %s', (algorithm) => {
    const { limiter, clock, left } = limited({ ...user, limit: limit('10/min', { algorithm }) })
    const { at } = limiter.check(request, 10)
    expect(at).toBe(START)
    clock.advance(120_000)
    limiter.check(request, 10)
    limiter.refund(request, 10, at)
    expect(left(request)).toEqual([0])
  })

  it('hands back only what time has not', () => {
    const { limiter, clock, left } = limited(user)
    const { at } = limiter.check(request, 10)
    clock.advance(30_000)
    expect(left(request)).toEqual([5])
    limiter.refund(request, 6, at)
    expect(left(request)).toEqual([6])
  })

  it('takes the cost from the attribute that the rule names', () => {
    const { limiter, left } = limited({ ...user, cost: 'tokens' })
    limiter.check({ ...request, tokens: 8 })
    limiter.refund({ ...request, tokens: 5 })
    expect(left(request)).toEqual([7])
  })

  it.each([Number.NaN, Infinity, '5', null, {}])(
    'refuses %s as the instant of the charge, and changes nothing',
    (takenAt) => {
      const { limiter, left } = limited(user)
      limiter.check(request, 6)
      expect(() => limiter.refund(request, 1, takenAt as never)).toThrow(
        expect.objectContaining({
          code: 'invalid-option',
          message: expect.stringMatching(/^takenAt is .*; accepted: the decision's at/) as string,
        }),
      )
      expect(left(request)).toEqual([4])
    },
  )
})

describe('reset', () => {
  it('forgets the counts of every rule that applies, and of no other key', () => {
    const { limiter, left } = limited(user, all)
    limiter.check({ user: 'b' }, 4)
    limiter.check(request, 6)
    limiter.reset(request)
    expect(left(request)).toEqual([10, 100])
    expect(left({ user: 'b' })).toEqual([6, 100])
  })

  it('is the end of a refusal', () => {
    const { limiter } = limited(user)
    limiter.check(request, 10)
    expect(limiter.check(request).allowed).toBe(false)
    limiter.reset(request)
    expect(limiter.check(request)).toMatchObject({ allowed: true, remaining: 9 })
  })
})
