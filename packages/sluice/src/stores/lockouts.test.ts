import { describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { explain } from '../decision/explain.ts'
import { parsePolicy } from '../policy/parse.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { memoryStore } from './memory/memory-store.ts'

const MINUTE = 60_000
const lockout = { after: 3, for: '10min', grow: 2, upTo: '30min' } as const

/** Logins: 2 per minute and account, locked out after 3 refusals; and 1000 per minute for everybody. */
function logins(more: object = {}) {
  const clock = fakeClock(1_800_000_000_000)
  const store = memoryStore({ clock })
  const limit = { quota: 2, window: '1min', algorithm: 'fixed-window' } as const
  const policy = {
    name: 'api',
    rules: [
      { name: 'login', by: ['account'], limit, lockout: { ...lockout, ...more } },
      { name: 'all', by: [], limit: '1000/min' },
    ],
  }
  const limiter = createLimiter({ policy, store })
  const attempt = (account = 'ann', cost = 1) => limiter.check({ account }, cost)
  const refuse = (times: number, account = 'ann') => {
    const decisions = Array.from({ length: times }, () => attempt(account))
    return decisions.at(-1)!
  }
  return { clock, limiter, attempt, refuse }
}

describe('failures', () => {
  it('count for a lockout as refusals do, and take nothing', () => {
    const { limiter, attempt } = logins()
    for (let i = 0; i < 2; i++) void limiter.countFailure({ account: 'ann' })
    expect(attempt()).toMatchObject({ allowed: true, remaining: 1 })
    void limiter.countFailure({ account: 'ann' })
    expect(attempt()).toMatchObject({ reason: 'locked-out', retryAfter: 10 * MINUTE })
    expect(attempt('bob').allowed).toBe(true)
  })

  it('of a key that is locked out do not prolong the lock, and quiet forgets them', () => {
    const { limiter, attempt, clock } = logins()
    for (let i = 0; i < 9; i++) void limiter.countFailure({ account: 'ann' })
    expect(attempt().retryAfter).toBe(10 * MINUTE)
    clock.advance(20 * MINUTE)
    for (let i = 0; i < 3; i++) void limiter.countFailure({ account: 'ann' })
    expect(attempt().retryAfter).toBe(10 * MINUTE)
  })

  it('are lifted by a reset', () => {
    const { limiter, attempt } = logins()
    for (let i = 0; i < 3; i++) void limiter.countFailure({ account: 'ann' })
    limiter.reset({ account: 'ann' })
    expect(attempt().allowed).toBe(true)
  })
})

describe('a lockout', () => {
  it('shuts a key after so many refusals, and says for how long', () => {
    const { clock, attempt, refuse } = logins()
    refuse(2)
    expect(attempt()).toMatchObject({ allowed: false, reason: 'over-limit', retryAfter: MINUTE })
    expect(attempt().reason).toBe('over-limit')
    const locked = attempt()
    expect(locked).toMatchObject({ reason: 'locked-out', rule: 'login', retryAfter: 10 * MINUTE })
    expect(explain(locked)).toContain('refused by login')
    expect(explain(locked)).toContain('locked out for another 10 min')
    clock.advance(10 * MINUTE - 1)
    expect(attempt()).toMatchObject({ allowed: false, reason: 'locked-out', retryAfter: 1 })
    clock.advance(1)
    expect(attempt()).toMatchObject({ allowed: true, remaining: 1 })
  })

  it('charges no rule while a key is locked out, and no other key is', () => {
    const { attempt, refuse } = logins()
    refuse(5)
    const { outcomes } = attempt('bob')
    expect(outcomes.find(({ rule }) => rule === 'all')!.remaining).toBe(997)
    refuse(10)
    expect(attempt('bob').outcomes.find(({ rule }) => rule === 'all')!.remaining).toBe(996)
  })

  it('is longer each time, up to its longest, and is not prolonged by attempts', () => {
    const { clock, refuse } = logins()
    for (const minutes of [10, 20, 30, 30]) {
      expect(refuse(5).retryAfter).toBe(minutes * MINUTE)
      clock.advance(5 * MINUTE)
      expect(refuse(20).retryAfter).toBe((minutes - 5) * MINUTE)
      clock.advance((minutes - 5) * MINUTE)
    }
  })

  it('is forgotten after a quiet time as long as itself', () => {
    const { clock, refuse } = logins()
    refuse(5)
    clock.advance(10 * MINUTE + 10 * MINUTE - 1)
    expect(refuse(5).retryAfter).toBe(20 * MINUTE)
    clock.advance(20 * MINUTE + 20 * MINUTE)
    expect(refuse(5).retryAfter).toBe(10 * MINUTE)
  })

  it('counts refusals within one window together, and no older ones', () => {
    const { clock, refuse } = logins({ within: '5min' })
    expect(refuse(4).reason).toBe('over-limit')
    clock.advance(5 * MINUTE)
    expect(refuse(4).reason).toBe('over-limit')
    expect(refuse(1).reason).toBe('locked-out')
  })

  it('counts refusals of its own rule only', () => {
    const clock = fakeClock()
    const policy = {
      name: 'api',
      rules: [
        { name: 'all', by: [], limit: '1/day' },
        { name: 'login', by: ['account'], limit: '100/min', lockout: { after: 1, for: '1h' } },
      ],
    } as const
    const limiter = createLimiter({ policy, store: memoryStore({ clock }) })
    limiter.check({ account: 'ann' })
    for (let i = 0; i < 5; i++) expect(limiter.check({ account: 'ann' }).rule).toBe('all')
  })

  it('is shown by peek, which counts nothing, and a look passes', () => {
    const { limiter, refuse } = logins()
    refuse(4)
    for (let i = 0; i < 5; i++) expect(limiter.peek({ account: 'ann' }).reason).toBe('over-limit')
    refuse(1)
    expect(limiter.peek({ account: 'ann' }).reason).toBe('locked-out')
    expect(limiter.check({ account: 'ann' }, 0).allowed).toBe(true)
  })

  it('is lifted by reset', () => {
    const { limiter, attempt, refuse } = logins()
    refuse(5)
    limiter.reset({ account: 'ann' })
    expect(attempt().allowed).toBe(true)
    expect(refuse(3).reason).toBe('over-limit')
  })

  it('does not outlast a clock that was set back', () => {
    const { clock, attempt, refuse } = logins()
    refuse(5)
    clock.advance(-86_400_000)
    expect(attempt().retryAfter).toBeLessThanOrEqual(30 * MINUTE)
    clock.advance(30 * MINUTE)
    expect(attempt().allowed).toBe(true)
  })
})

describe('a lockout in a policy', () => {
  const parse = (own: unknown, more: object = {}) =>
    parsePolicy({
      name: 'p',
      rules: [{ name: 'r', by: [], limit: '1/min', lockout: own, ...more }],
    })

  it('is in full after parsing, and parses again to the same', () => {
    const policy = parse({ after: 5, for: '10min', grow: 2 })
    expect(policy.rules[0]!.lockout).toEqual({ after: 5, for: 600_000, grow: 2, upTo: 86_400_000 })
    expect(parsePolicy(policy)).toEqual(policy)
  })

  it.each<[unknown, string]>([
    [5, 'rules[0].lockout is 5; accepted: an object with after and for'],
    [{ after: 5 }, 'rules[0].lockout.for is missing'],
    [{ for: '1h' }, 'rules[0].lockout.after is missing'],
    [{ after: 0, for: '1h' }, 'rules[0].lockout.after is 0; accepted: a whole number from 1'],
    [{ after: 1.5, for: '1h' }, 'rules[0].lockout.after is 1.5'],
    [{ after: 5, for: 'long' }, 'rules[0].lockout.for is "long"'],
    [{ after: 5, for: '1h', grow: 1.5 }, 'rules[0].lockout.grow is 1.5'],
    [
      { after: 5, for: '1h', upTo: '1min' },
      'rules[0].lockout.upTo is "1min"; accepted: a duration',
    ],
    [{ after: 5, for: '1h', within: -1 }, 'rules[0].lockout.within is -1'],
    [{ after: 5, for: '1h', factor: 2 }, 'rules[0].lockout.factor is not a known field'],
  ])('%j is a mistake', (own, message) => {
    expect(() => parse(own)).toThrow(message)
  })

  it('is a mistake on a shadow rule', () => {
    expect(() => parse({ after: 5, for: '1h' }, { shadow: true })).toThrow(/lockout .* shadow/)
  })
})
