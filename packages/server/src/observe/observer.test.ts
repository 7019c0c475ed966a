import { createLimiter, memoryStore, parsePolicy, type Attributes } from 'sluice'
import { fakeClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { Observer, readDecisionId } from './observer.ts'
import { DecisionSampler } from '../limiters/decide-options.ts'
import { spreadOf } from './space-saving.ts'

const START = 1_800_000_000_000
const policy = parsePolicy({
  name: 'api',
  rules: [
    { name: 'per-user', by: ['user'], limit: { quota: 1, window: '1h' } },
    { name: 'per-route', when: { route: 'present' }, by: ['ip', 'route'], limit: '1/h' },
    { name: 'keys', by: ['key'], limit: '1/h' },
    { name: 'trial', by: ['user'], limit: '2/h', shadow: true },
  ],
})

/** One request an hour for each user, eight for each team. */
const teamPolicy = (team: object = {}) =>
  parsePolicy({
    name: 'api',
    rules: [
      { name: 'user', by: ['user'], limit: '1/h' },
      { name: 'team', by: ['team'], limit: '8/h', ...team },
    ],
  })

function observing(rules = policy, weight: (tick: number) => number = () => 1) {
  const clock = fakeClock(START)
  const observer = new Observer(clock)
  const { identify, note } = observer.of(rules)
  const limiter = createLimiter({
    policy: rules,
    store: memoryStore({ clock }),
    identify,
    blocked: ({ user }) => (user === 'mallory' ? 60_000 : undefined),
    onDecision: (decision, request) => note(decision, request, undefined, weight(observer.ticks)),
  })
  const ask = (attributes: Attributes | string, times = 1) => {
    let last = limiter.check(attributes)
    for (let i = 1; i < times; i++) last = limiter.check(attributes)
    return last
  }
  const rule = (name: string) => observer.parts().find((part) => part.rule === name)
  const advance = (millis: number) => {
    clock.advance(millis)
    observer.tick()
  }
  return { clock, observer, ask, rule, advance }
}

describe('keys refused most', () => {
  it('have the attributes of the rule that refused', () => {
    const { ask, rule } = observing()
    ask({ user: 'ann' }, 4)
    ask({ user: 'bob' }, 9)
    ask({ ip: '192.0.2.1', route: '/a', plan: 'free' }, 6)
    ask('k', 3)
    expect(rule('per-user')!.refused.entries).toEqual([
      { key: 'bob', about: { user: 'bob' }, count: 8, error: 0, variance: 0 },
      { key: 'ann', about: { user: 'ann' }, count: 3, error: 0, variance: 0 },
    ])
    expect(rule('per-route')!.refused.entries).toMatchObject([
      { about: { ip: '192.0.2.1', route: '/a' }, count: 5 },
    ])
    expect(rule('keys')!.refused.entries).toMatchObject([{ about: { key: 'k' }, count: 2 }])
  })

  it('count for one to two minutes', () => {
    const { ask, rule, advance } = observing()
    ask({ user: 'ann' }, 5)
    advance(60_000)
    ask({ user: 'ann' }, 2)
    expect(rule('per-user')!.refused.entries).toMatchObject([{ count: 6 }])
    advance(60_000)
    expect(rule('per-user')!.refused.entries).toMatchObject([{ count: 2 }])
    advance(120_000)
    expect(rule('per-user')!.refused.entries).toEqual([])
    expect(rule('per-user')!.last).toBe(START + 60_000)
    ask({ user: 'ann' }, 2)
    expect(rule('per-user')!.refused.entries).toMatchObject([{ count: 2 }])
  })

  it('are estimated from a sample when there are many', () => {
    const sampler = new DecisionSampler()
    const { ask, rule } = observing(policy, (tick) => sampler.weight(tick))
    ask({ user: 'ann' }, 30_001)
    ask({ user: 'bob' }, 10_001)
    const [first, second] = rule('per-user')!.refused.entries
    expect([first!.key, second!.key]).toEqual(['ann', 'bob'])
    expect(Math.abs(first!.count - 30_000)).toBeLessThanOrEqual(spreadOf(first!))
    expect(Math.abs(second!.count - 10_000)).toBeLessThanOrEqual(spreadOf(second!))
  })

  it('have long values as their hash', () => {
    const { ask, rule } = observing()
    ask({ user: 'x'.repeat(129) }, 2)
    expect(rule('per-user')!.refused.entries[0]!.about['user']).toMatch(/^~[\w-]{43}$/)
  })
})

describe('keys of a rule', () => {
  it('are counted, with the units that they took', () => {
    const { ask, rule, observer } = observing()
    for (let i = 0; i < 20; i++) ask({ user: `user ${i}` })
    expect(rule('per-user')!.busiest.entries).toHaveLength(20)
    expect(observer.countsOf('api', 'per-user').distinct).toBe(20)
    expect(observer.countsOf('api', 'other')).toEqual({ distinct: 0, atZero: 0 })
  })

  it('take nothing by a request that another rule refuses', () => {
    const { ask, rule, observer } = observing(teamPolicy())
    ask({ team: 't', user: 'eve' }, 21)
    for (let i = 0; i < 7; i++) ask({ team: 't', user: `user ${i}` })
    expect(rule('team')!.busiest.entries).toMatchObject([
      { about: { team: 't' }, count: 8, error: 0 },
    ])
    expect(rule('team')!.refused.entries).toEqual([])
    ask({ team: 't', user: 'zoe' })
    const refusal = observer.journal.list(START).find((entry) => entry.rule === 'team')
    expect(refusal!.filledBy).toHaveLength(6)
    expect(refusal!.filledBy.filter(({ units, error }) => units - error > 1)).toEqual([])
    expect(refusal!.filledBy.map(({ attributes }) => attributes['user'])).not.toContain('eve')
  })

  it('take units by a refused request of a rule that counts refusals', () => {
    const { ask, rule } = observing(teamPolicy({ countRefused: true }))
    ask({ team: 't', user: 'eve' }, 6)
    expect(rule('team')!.busiest.entries).toMatchObject([{ about: { team: 't' }, count: 6 }])
  })

  it('at zero for over five minutes are counted', () => {
    const { ask, advance, observer } = observing()
    ask({ user: 'ann' }, 2)
    advance(299_000)
    expect(observer.countsOf('api', 'per-user').atZero).toBe(0)
    advance(2000)
    ask({ user: 'ann' })
    expect(observer.countsOf('api', 'per-user').atZero).toBe(1)
  })

  it('that a shadow rule would newly refuse are listed apart', () => {
    const rules = parsePolicy({
      name: 'api',
      rules: [{ name: 'trial', by: ['user'], limit: '2/h', shadow: true }],
    })
    const { ask, rule } = observing(rules)
    ask({ user: 'ann' }, 5)
    expect(rule('trial')!.newlyRefused.entries).toMatchObject([
      { about: { user: 'ann' }, count: 3, error: 0 },
    ])
  })
})

describe('the journal', () => {
  it('has rule, numbers, first and last refusal, and what filled the count', () => {
    const rules = parsePolicy({
      name: 'api',
      rules: [{ name: 'per-user', by: ['user'], limit: '10/h' }],
    })
    const { ask, advance, observer } = observing(rules)
    ask({ user: 'ann', route: '/list', method: 'GET' }, 5)
    ask({ user: 'ann', route: '/export', method: 'POST' }, 6)
    advance(5000)
    const { id, allowed } = ask({ user: 'ann', route: '/list' })
    expect(allowed).toBe(false)
    const [entry, ...others] = observer.journal.list(START + 5000)
    expect(others).toEqual([])
    expect(entry).toMatchObject({
      policy: 'api',
      rule: 'per-user',
      attributes: { user: 'ann' },
      reason: 'over-limit',
      limit: { quota: 10 },
      cost: 1,
      remaining: 0,
      source: 'memory',
      sources: { memory: 2 },
      first: START,
      last: START + 5000,
      count: 2,
    })
    expect(entry!.filledBy).toMatchObject([
      { attributes: { route: '/export', method: 'POST' }, cost: 1, units: 5 },
      { attributes: { route: '/list', method: 'GET' }, units: 3 },
    ])
    expect(readDecisionId(id!)).toEqual({ key: entry!.id, at: START + 5000 })
  })

  it('says how far a sampled count of what filled a key may be off', () => {
    const rules = parsePolicy({
      name: 'api',
      rules: [{ name: 'per-user', by: ['user'], limit: '5000/h' }],
    })
    const sampler = new DecisionSampler()
    const { ask, observer } = observing(rules, (tick) => sampler.weight(tick))
    ask({ user: 'ann', route: '/export' }, 5001)
    const [fill] = observer.journal.list(START)[0]!.filledBy
    expect(fill!.spread).toBeGreaterThan(0)
    // The first quarter is not noted.
    expect(Math.abs(fill!.units - 3750)).toBeLessThanOrEqual(fill!.spread)
  })

  it('knows what filled a key also when very many keys fill at once', () => {
    const rules = parsePolicy({
      name: 'api',
      rules: [{ name: 'per-user', by: ['user'], limit: '100/h' }],
    })
    const { ask, advance, observer } = observing(rules)
    const fill = (user: string) => {
      for (let round = 0; round < 60; round++) {
        for (let i = 0; i < 200; i++) ask({ user: `user ${i}`, route: '/list' })
        ask({ user, route: '/export' }, 2)
      }
      return observer.journal.list(START).find((entry) => entry.attributes['user'] === user)
    }
    expect(fill('ann')!.filledBy).toMatchObject([{ attributes: { route: '/export' }, units: 75 }])
    // Half of the window later, places are free of those that filled before.
    advance(1_900_000)
    expect(fill('bob')!.filledBy).toMatchObject([{ attributes: { route: '/export' } }])
  })

  it('forgets the keys refused longest ago', () => {
    const { ask, observer, advance } = observing()
    for (let i = 0; i < 2100; i++) {
      ask({ user: `user ${i}` }, 2)
      if (i % 100 === 0) advance(250)
    }
    const entries = observer.journal.list(START)
    expect(entries).toHaveLength(2000)
    expect(entries[0]!.attributes).toEqual({ user: 'user 2099' })
  })

  it('takes in only some of an attack by many keys at once, and counts them on', () => {
    const { ask, observer, advance } = observing()
    for (let i = 0; i < 1000; i++) ask({ user: `user ${i}` }, 2)
    expect(observer.journal.list(START)).toHaveLength(100)
    ask({ user: 'user 7' }, 5)
    advance(250)
    ask({ user: 'user 900' })
    const entries = observer.journal.list(START)
    const countOf = (user: string) => entries.find(({ attributes }) => attributes['user'] === user)
    expect(countOf('user 7')).toMatchObject({ count: 6, sources: { memory: 6 } })
    expect(countOf('user 900')).toMatchObject({ count: 1 })
  })

  it('takes in keys beside a blocked one that goes on asking', () => {
    const { ask, observer } = observing()
    ask({ user: 'mallory' }, 1000)
    ask({ user: 'ann' }, 2)
    expect(observer.journal.list(START)).toMatchObject([
      { rule: 'per-user', count: 1 },
      { rule: '', reason: 'blocked', count: 1000 },
    ])
  })

  it('estimates the count of a key that is refused very often', () => {
    const sampler = new DecisionSampler()
    const { ask, observer } = observing(policy, (tick) => sampler.weight(tick))
    ask({ user: 'ann' }, 200)
    expect(observer.journal.list(START)).toMatchObject([{ count: 199, estimated: false }])
    ask({ user: 'ann' }, 50_000)
    const [entry] = observer.journal.list(START)
    expect(entry).toMatchObject({ estimated: true, sources: { memory: entry!.count } })
    expect(Math.abs(entry!.count / 50_199 - 1)).toBeLessThan(0.2)
  })

  it('hands out each change once', () => {
    const { ask, observer } = observing()
    ask({ user: 'ann' }, 2)
    expect(observer.journal.takeChanged(10)).toHaveLength(1)
    expect(observer.journal.takeChanged(10)).toEqual([])
    ask({ user: 'ann' })
    expect(observer.journal.takeChanged(10)).toMatchObject([{ count: 2 }])
  })
})

describe('refusals', () => {
  it('are counted by the minute, also when nothing follows them', () => {
    const { ask, observer, advance } = observing()
    const minutes: number[] = []
    observer.onMinute = (refusals) => void minutes.push(refusals)
    ask({ user: 'ann' }, 2500)
    for (let i = 0; i < 1000; i++) ask({ user: `user ${i}` }, 2)
    advance(59_000)
    expect(minutes).toEqual([])
    advance(1000)
    expect(minutes).toEqual([3499])
    advance(60_000)
    ask({ user: 'ann' })
    observer.close()
    expect(minutes).toEqual([3499, 1])
  })
})

describe('a decision id', () => {
  it('is new for each refusal, and its beginning names the key', () => {
    const { ask } = observing()
    const ids = Array.from({ length: 5 }, () => ask({ user: 'ann' }).id)
    const [none, ...others] = ids
    expect(none).toBeUndefined()
    expect(new Set(others).size).toBe(4)
    expect(new Set(others.map((id) => id!.slice(0, 10))).size).toBe(1)
    expect(ask({ user: 'bob' }, 2).id!.slice(0, 10)).not.toBe(others[0]!.slice(0, 10))
  })

  it.each(['', 'short', 'has spaces in it here!', 'x'.repeat(24)])('is not %j', (text) => {
    expect(readDecisionId(text)).toBeUndefined()
  })
})
