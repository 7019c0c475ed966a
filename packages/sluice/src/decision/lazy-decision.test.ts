import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ALGORITHMS, limit } from '../limit/limit.ts'
import { createLimiter } from '../limiter/create-limiter.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import type { Decision } from './decision.ts'

const START = 1_800_000_000_000

/** Every member of a decision, in the documented order. */
const MEMBERS = [
  'allowed',
  'reason',
  'rule',
  'limit',
  'remaining',
  'retryAfter',
  'resetAfter',
  'delay',
  'at',
  'degraded',
  'outcomes',
  'skipped',
] as const satisfies readonly (keyof Decision)[]

const json = (decision: Decision): Decision => JSON.parse(JSON.stringify(decision)) as Decision

describe('a decision', () => {
  const clock = fakeClock(START)
  const store = memoryStore({ clock })
  const limiter = createLimiter({
    policy: {
      name: 'api',
      rules: [
        { name: 'user', by: ['user'], limit: { quota: 60, window: '1min', burst: 2 } },
        { name: 'trial', by: ['user'], limit: '9/min', shadow: true, hidden: true },
        { name: 'ip', by: ['ip'], limit: '5/s' },
      ],
    },
    store,
  })
  const allowed = limiter.check({ user: 'a' })
  limiter.check({ user: 'a' })
  const refused = limiter.check({ user: 'a' })
  const user = { algorithm: 'token-bucket', quota: 60, window: 60_000, burst: 2 }
  const trial = { algorithm: 'token-bucket', quota: 9, window: 60_000, burst: 9 }

  it('survives JSON when it allows', () => {
    expect(json(allowed)).toEqual({
      allowed: true,
      reason: 'within-limit',
      rule: 'user',
      limit: user,
      remaining: 1,
      retryAfter: 0,
      resetAfter: 1000,
      delay: 0,
      at: START,
      degraded: false,
      outcomes: [
        {
          rule: 'user',
          limit: user,
          cost: 1,
          allowed: true,
          remaining: 1,
          retryAfter: 0,
          resetAfter: 1000,
          availableAfter: 1000,
          delay: 0,
          at: START,
          source: 'memory',
          shadow: false,
          hidden: false,
        },
        {
          rule: 'trial',
          limit: trial,
          cost: 1,
          allowed: true,
          remaining: 8,
          retryAfter: 0,
          resetAfter: 6667,
          availableAfter: 6667,
          delay: 0,
          at: START,
          source: 'memory',
          shadow: true,
          hidden: true,
        },
      ],
      skipped: [{ rule: 'ip', missing: 'ip' }],
    })
  })

  it('survives JSON when it refuses', () => {
    expect(json(refused)).toMatchObject({
      allowed: false,
      reason: 'over-limit',
      rule: 'user',
      limit: user,
      remaining: 0,
      retryAfter: 1000,
      resetAfter: 2000,
      at: START,
      outcomes: [
        { allowed: false, remaining: 0, retryAfter: 1000 },
        { allowed: true, remaining: 7, retryAfter: 0 },
      ],
    })
  })

  it('has null for what has no number in JSON', () => {
    expect(json(limiter.check({}))).toMatchObject({
      reason: 'no-rule',
      remaining: null,
      rule: null,
    })
    expect(json(limiter.check({ user: 'a' }, 3))).toMatchObject({ retryAfter: null, remaining: 0 })
  })

  it.each<[string, Decision]>([
    ['by several rules', allowed],
    ['that refuses', refused],
    ['by no rule', limiter.check({})],
    ['of a peek', limiter.peek({ user: 'a' })],
    ['by one rule', createLimiter({ limit: '5/min', store }).check('a')],
  ])('%s has every member, and its JSON says the same', (_, decision) => {
    const plain = json(decision)
    expect(Object.keys(plain)).toEqual(MEMBERS)
    for (const member of MEMBERS) {
      const value = decision[member]
      const same = value === Infinity ? null : value
      expect(plain[member]).toEqual(same)
    }
  })

  it.each<[string, Decision]>([
    ['by several rules', allowed],
    ['by one rule', createLimiter({ limit: '5/min', store }).check('a')],
  ])('%s is shown as data by the console', (_, decision) => {
    const shown = inspect(decision)
    for (const member of MEMBERS) expect(shown).toContain(`${member}: `)
    for (const inner of ['algorithm: {', 'verdict', 'spoken', 'next'])
      expect(shown).not.toContain(inner)
  })

  it('returns the same numbers however often and however late they are read', () => {
    const before = json(refused)
    clock.advance(90_000)
    limiter.reset({ user: 'a' })
    limiter.check({ user: 'a' }, 2)
    expect(json(refused)).toEqual(before)
    expect(json(refused)).toEqual(before)
  })

  // The quickest path keeps one check for all requests; a decision must not change with it.
  it.each(ALGORITHMS)('is not changed by those that follow: %s', (algorithm) => {
    const clock = fakeClock(START)
    const one = createLimiter({
      limit: limit('5/10s', { algorithm }),
      store: memoryStore({ clock }),
    })
    const decisions: Decision[] = []
    const then: Decision[] = []
    for (let i = 0; i < 30; i++) {
      const decision = one.check(i % 3 === 0 ? 'a' : 'b')
      decisions.push(decision)
      then.push(json(decision))
      clock.advance(i * 37)
    }
    expect(decisions.map(json)).toEqual(then)
  })
})
