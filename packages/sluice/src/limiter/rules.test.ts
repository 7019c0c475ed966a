import { describe, expect, it } from 'vitest'
import type { Decision } from '../decision/decision.ts'
import type { Attributes, Rule } from '../policy/policy.ts'
import { memoryStore, type MemoryStore } from '../stores/memory/memory-store.ts'
import { fakeClock, type FakeClock } from '../testing/fake-clock.ts'
import { createLimiter } from './create-limiter.ts'
import type { SyncLimiter } from './limiter.ts'

const START = 1_800_000_000_000

/** A limiter with these rules on a store of its own, whose clock stands still. */
function limited(...rules: Rule[]): {
  limiter: SyncLimiter
  store: MemoryStore
  clock: FakeClock
} {
  const clock = fakeClock(START)
  const store = memoryStore({ clock })
  return { limiter: createLimiter({ policy: { name: 'test', rules }, store }), store, clock }
}

const spoken = (decision: Decision): readonly string[] => decision.outcomes.map(({ rule }) => rule)
const leftOf = (decision: Decision): Record<string, number> =>
  Object.fromEntries(decision.outcomes.map(({ rule, remaining }) => [rule, remaining]))

/** How many of `tries` requests pass. */
function passes(limiter: SyncLimiter, attributes: Attributes, tries = 20): number {
  let passed = 0
  for (let i = 0; i < tries; i++) if (limiter.check(attributes).allowed) passed += 1
  return passed
}

describe('which rules apply', () => {
  const signedIn: Rule = { name: 'signed-in', by: ['user'], limit: '5/min' }
  const anonymous: Rule = {
    name: 'anonymous',
    when: { user: 'absent' },
    by: ['ip'],
    limit: '2/min',
  }
  const everyone: Rule = { name: 'everyone', by: [], limit: '100/min' }

  it.each<[Attributes, spoken: string[], skipped: object[]]>([
    [{ user: 'ann', ip: '192.0.2.1' }, ['signed-in', 'everyone'], []],
    [{ user: 'ann' }, ['signed-in', 'everyone'], []],
    [{ ip: '192.0.2.1' }, ['anonymous', 'everyone'], [{ rule: 'signed-in', missing: 'user' }]],
    [
      { user: '', ip: null },
      ['everyone'],
      [
        { rule: 'signed-in', missing: 'user' },
        { rule: 'anonymous', missing: 'ip' },
      ],
    ],
    [
      {},
      ['everyone'],
      [
        { rule: 'signed-in', missing: 'user' },
        { rule: 'anonymous', missing: 'ip' },
      ],
    ],
  ])('for %j', (attributes, rules, skipped) => {
    const decision = limited(signedIn, anonymous, everyone).limiter.check(attributes)
    expect(spoken(decision)).toEqual(rules)
    expect(decision.skipped).toEqual(skipped)
  })

  it('does not list a rule whose condition does not hold', () => {
    const decision = limited(anonymous).limiter.check({ user: 'ann' })
    expect(decision.skipped).toEqual([])
    expect(decision.outcomes).toEqual([])
  })

  it.each<Attributes>([{}, { user: undefined }, { user: null }, { user: '' }])(
    'never keys a rule by %j',
    (attributes) => {
      const { limiter, store } = limited({ ...signedIn, limit: '1/min' })
      expect(passes(limiter, attributes)).toBe(20)
      expect(store.stats().keys).toBe(0)
    },
  )

  it('needs every attribute of a rule that counts by several', () => {
    const { limiter } = limited({ name: 'pair', by: ['tenant', 'user'], limit: '1/min' })
    expect(limiter.check({ tenant: 't' }).skipped).toEqual([{ rule: 'pair', missing: 'user' }])
    expect(limiter.check({ user: 'u' }).skipped).toEqual([{ rule: 'pair', missing: 'tenant' }])
    expect(spoken(limiter.check({ tenant: 't', user: 'u' }))).toEqual(['pair'])
  })

  it('ignores what an object inherits', () => {
    const { limiter } = limited({ name: 'rule', by: ['constructor'], limit: '1/min' })
    expect(limiter.check({}).skipped).toEqual([{ rule: 'rule', missing: 'constructor' }])
    const { limiter: other } = limited(signedIn)
    const heir = Object.create({ user: 'ann' }) as Attributes
    expect(other.check(heir).skipped).toEqual([{ rule: 'signed-in', missing: 'user' }])
  })
})

describe('keys', () => {
  it('keep values apart, whatever separators they hold', () => {
    const { limiter } = limited({ name: 'pair', by: ['a', 'b'], limit: '1/min' })
    for (const [a, b] of [
      ['x', 'yz'],
      ['xy', 'z'],
      ['x:1', 'y'],
      ['x', '1:y'],
      ['~x', 'y'],
    ] as const) {
      expect(limiter.check({ a, b }).allowed).toBe(true)
      expect(limiter.check({ a, b }).allowed).toBe(false)
    }
  })

  it('take numbers and booleans by their text', () => {
    const { limiter } = limited({ name: 'rule', by: ['user'], limit: '1/min' })
    expect(limiter.check({ user: 7 }).allowed).toBe(true)
    expect(limiter.check({ user: '7' }).allowed).toBe(false)
    expect(limiter.check({ user: 0 }).allowed).toBe(true)
    expect(limiter.check({ user: '0' }).allowed).toBe(false)
    expect(limiter.check({ user: false }).allowed).toBe(true)
    expect(limiter.check({ user: 'false' }).allowed).toBe(false)
  })

  it('are one for everybody when a rule counts by nothing', () => {
    const { limiter } = limited({ name: 'all', by: [], limit: '2/min' })
    const answers = [limiter.check({ user: 'a' }), limiter.check('b'), limiter.check({})]
    expect(answers.map(({ allowed }) => allowed)).toEqual([true, true, false])
  })

  it('of two rules with the same attributes are two', () => {
    const { limiter } = limited(
      { name: 'one', by: ['user'], limit: '5/min' },
      { name: 'two', by: ['user'], limit: '9/min' },
    )
    expect(leftOf(limiter.check({ user: 'a' }))).toEqual({ one: 4, two: 8 })
  })
})

it('keeps a count for the slowest tier that may read it', () => {
  const clock = fakeClock(1_800_000_000_000)
  const limiter = createLimiter({
    policy: {
      name: 'p',
      rules: [
        {
          name: 'per-tenant',
          by: ['tenant'],
          limit: '1/10s',
          tiers: { attribute: 'plan', limits: { pro: '10/10s' } },
        },
      ],
    },
    store: memoryStore({ clock }),
  })
  expect(limiter.check({ tenant: 't', plan: 'pro' }).allowed).toBe(true)
  clock.advance(2300)
  // A new key makes the store forget counts that have ended.
  limiter.check({ tenant: 'other', plan: 'pro' })
  expect(limiter.check({ tenant: 't' })).toMatchObject({ allowed: false, retryAfter: 7700 })
  clock.advance(7700)
  expect(limiter.check({ tenant: 't' }).allowed).toBe(true)
})

describe('tiers and overrides', () => {
  const rule: Rule = {
    name: 'per-user',
    by: ['user'],
    limit: '5/min',
    tiers: {
      attribute: 'plan',
      limits: { free: '2/min', pro: '10/min', daily: '3/day', staff: 'unlimited' },
    },
    overrides: [
      { when: { user: 'mallory' }, limit: '0/min' },
      { when: { ip: '10.0.0.0/8' }, limit: 'unlimited' },
    ],
  }

  it.each<[Attributes, passed: number]>([
    [{ user: 'a' }, 5],
    [{ user: 'a', plan: 'other' }, 5],
    [{ user: 'a', plan: 'free' }, 2],
    [{ user: 'a', plan: 'pro' }, 10],
    [{ user: 'a', plan: 'daily' }, 3],
    [{ user: 'a', plan: 'staff' }, 20],
    [{ user: 'mallory', plan: 'staff' }, 0],
    [{ user: 'mallory', ip: '10.1.2.3' }, 0],
    [{ user: 'a', plan: 'free', ip: '10.1.2.3' }, 20],
  ])('for %j let %i of 20 pass', (attributes, passed) => {
    expect(passes(limited(rule).limiter, attributes)).toBe(passed)
  })

  it('list a lifted rule as skipped, with nothing missing', () => {
    const decision = limited(rule).limiter.check({ user: 'a', plan: 'staff' })
    expect(decision).toMatchObject({ allowed: true, reason: 'no-rule' })
    expect(decision.skipped).toEqual([{ rule: 'per-user' }])
  })

  it('keep what was spent through an upgrade', () => {
    const { limiter } = limited(rule)
    expect(passes(limiter, { user: 'a', plan: 'free' })).toBe(2)
    expect(passes(limiter, { user: 'a', plan: 'pro' })).toBe(8)
    expect(passes(limiter, { user: 'a', plan: 'free' })).toBe(0)
  })

  it('count apart where the window is another', () => {
    const { limiter } = limited(rule)
    expect(passes(limiter, { user: 'a', plan: 'daily' })).toBe(3)
    expect(passes(limiter, { user: 'a' })).toBe(5)
  })
})

describe('costs', () => {
  const byTokens: Rule = { name: 'tokens', by: ['user'], limit: '100/min', cost: 'tokens' }

  it.each<[what: string, rule: Partial<Rule>, Attributes, call: number | undefined, left: number]>([
    ['1 by default', {}, {}, undefined, 99],
    ['the cost of the call', {}, {}, 7, 93],
    ['nothing when the call costs 0', {}, {}, 0, 100],
    ["the rule's own number, whatever the call says", { cost: 5 }, {}, 7, 95],
    ["nothing when the rule's number is 0", { cost: 0 }, {}, 7, 100],
    ['the attribute that the rule names', { cost: 'tokens' }, { tokens: 40 }, 7, 60],
    ['nothing when the attribute is 0', { cost: 'tokens' }, { tokens: 0 }, 7, 100],
    ['the cost of the call when the attribute is absent', { cost: 'tokens' }, {}, 7, 93],
    ['the cost of the call when it is null', { cost: 'tokens' }, { tokens: null }, 7, 93],
    ["the cost of the call when it is ''", { cost: 'tokens' }, { tokens: '' }, 7, 93],
  ])('are %s', (_, rule, attributes, cost, left) => {
    const { limiter } = limited({ name: 'rule', by: ['user'], limit: '100/min', ...rule })
    expect(limiter.check({ user: 'a', ...attributes }, cost).remaining).toBe(left)
  })

  it('differ by rule in one request', () => {
    const { limiter } = limited({ name: 'requests', by: ['user'], limit: '10/min' }, byTokens)
    const decision = limiter.check({ user: 'a', tokens: 30 })
    expect(leftOf(decision)).toEqual({ requests: 9, tokens: 70 })
    expect(decision.outcomes.map(({ cost }) => cost)).toEqual([1, 30])
  })

  it('above the burst are refused for good, and charge nothing', () => {
    const { limiter } = limited({ name: 'requests', by: ['user'], limit: '10/min' }, byTokens)
    const decision = limiter.check({ user: 'a', tokens: 101 })
    expect(decision).toMatchObject({ allowed: false, rule: 'tokens', retryAfter: null })
    expect(leftOf(limiter.peek({ user: 'a' }))).toEqual({ requests: 10, tokens: 100 })
  })

  it('are not inherited', () => {
    const { limiter } = limited(byTokens)
    const heir = Object.assign(Object.create({ tokens: 0 }) as object, { user: 'a' })
    expect(limiter.check(heir).remaining).toBe(99)
  })
})

describe('several rules', () => {
  const wide: Rule = { name: 'wide', by: ['user'], limit: '10/min' }
  const narrow: Rule = { name: 'narrow', by: ['ip'], limit: '2/min' }
  const request = { user: 'a', ip: '192.0.2.1' }

  it.each([
    ['first', [narrow, wide]],
    ['last', [wide, narrow]],
  ] as const)('are charged all or none, with the refusing one %s', (_, rules) => {
    const { limiter } = limited(...rules)
    expect(passes(limiter, request)).toBe(2)
    expect(leftOf(limiter.peek(request))).toEqual({ wide: 8, narrow: 0 })
  })

  it('keep the order of the policy in outcomes', () => {
    expect(spoken(limited(wide, narrow).limiter.check(request))).toEqual(['wide', 'narrow'])
    expect(spoken(limited(narrow, wide).limiter.check(request))).toEqual(['narrow', 'wide'])
  })

  it('bind by the one nearest to refusing while all allow', () => {
    const { limiter } = limited(wide, narrow)
    expect(limiter.check(request)).toMatchObject({
      rule: 'narrow',
      remaining: 1,
      retryAfter: 0,
      reason: 'within-limit',
      limit: { quota: 2 },
    })
  })

  it('bind by the longest wait among those that refuse', () => {
    const { limiter } = limited(
      { name: 'short', by: ['user'], limit: '1/s' },
      { name: 'long', by: ['user'], limit: '1/min' },
      { name: 'open', by: ['user'], limit: '9/h' },
    )
    limiter.check({ user: 'a' })
    const decision = limiter.check({ user: 'a' })
    expect(decision).toMatchObject({ allowed: false, reason: 'over-limit', rule: 'long' })
    expect(decision.retryAfter).toBe(60_000)
    expect(decision.outcomes.map(({ retryAfter }) => retryAfter)).toEqual([1000, 60_000, 0])
  })

  it('bind by a refusal for good before any wait', () => {
    const { limiter } = limited(
      { name: 'slow', by: ['user'], limit: '4/day' },
      { name: 'small', by: ['user'], limit: '3/s' },
    )
    limiter.check({ user: 'a' }, 1)
    const decision = limiter.check({ user: 'a' }, 4)
    expect(decision).toMatchObject({ allowed: false, rule: 'small', retryAfter: null })
  })

  it('keep the promise of retryAfter', () => {
    const { limiter, clock } = limited(wide, narrow)
    expect(passes(limiter, request)).toBe(2)
    const wait = limiter.check(request).retryAfter!
    clock.advance(wait - 1)
    expect(limiter.check(request).allowed).toBe(false)
    clock.advance(1)
    expect(limiter.check(request).allowed).toBe(true)
  })

  it('hold a request for the longest delay', () => {
    const { limiter } = limited(
      { name: 'a', by: ['user'], limit: { quota: 10, window: '1s', algorithm: 'leaky-bucket' } },
      { name: 'b', by: ['user'], limit: { quota: 5, window: '1s', algorithm: 'leaky-bucket' } },
      { name: 'c', by: ['user'], limit: '100/s' },
    )
    const delays = [1, 2, 3].map(() => limiter.check({ user: 'a' }).delay)
    expect(delays).toEqual([0, 200, 400])
  })
})

describe('shadow', () => {
  const enforced: Rule = { name: 'enforced', by: ['user'], limit: '3/min' }
  const candidate: Rule = { name: 'candidate', by: ['user'], limit: '1/min', shadow: true }
  const request = { user: 'a' }

  it('never changes the answer', () => {
    const { limiter } = limited(enforced, candidate)
    const alone = limited(enforced).limiter
    for (let i = 0; i < 5; i++) {
      const { outcomes, ...numbers } = json(limiter.check(request))
      const { outcomes: only, ...plain } = json(alone.check(request))
      expect(numbers).toEqual(plain)
      expect(outcomes[0]).toEqual(only[0])
    }
  })

  it('says what it would have answered', () => {
    const { limiter } = limited(enforced, candidate)
    const answers = [1, 2, 3, 4].map(() => limiter.check(request).outcomes[1]!)
    expect(answers.map(({ shadow }) => shadow)).toEqual([true, true, true, true])
    expect(answers.map(({ allowed }) => allowed)).toEqual([true, false, false, false])
  })

  it('is not charged for a request that is refused', () => {
    const { limiter } = limited({ ...enforced, limit: '1/min' }, { ...candidate, limit: '5/min' })
    expect(passes(limiter, request)).toBe(1)
    expect(limiter.peek(request).outcomes[1]!.remaining).toBe(4)
  })

  it('does not hold a request', () => {
    const { limiter } = limited(enforced, {
      ...candidate,
      limit: { quota: 5, window: '1s', algorithm: 'leaky-bucket' },
    })
    limiter.check(request)
    const decision = limiter.check(request)
    expect(decision.outcomes[1]!.delay).toBe(200)
    expect(decision.delay).toBe(0)
  })

  it('alone refuses no request, and no rule binds', () => {
    const { limiter } = limited(candidate)
    expect(passes(limiter, request)).toBe(20)
    const decision = limiter.check(request)
    expect(decision).toMatchObject({ reason: 'no-rule', rule: null, limit: null, retryAfter: 0 })
    expect(decision.outcomes).toMatchObject([{ rule: 'candidate', allowed: false }])
    expect(decision.at).toBe(START)
  })

  it('alone refuses no request when it counts by key', () => {
    const { limiter } = limited({ ...candidate, by: ['key'] })
    expect([1, 2, 3].map(() => limiter.check('a').allowed)).toEqual([true, true, true])
  })
})

describe('countRefused', () => {
  const rule: Rule = { name: 'login', by: ['key'], limit: '2/min' }

  it('keeps a hammered key shut, and waiting opens it', () => {
    const { limiter, clock } = limited({ ...rule, countRefused: true })
    limiter.check('a', 2)
    clock.advance(29_999)
    expect(limiter.check('a')).toMatchObject({ allowed: false, retryAfter: 30_000 })
    clock.advance(29_999)
    expect(limiter.check('a')).toMatchObject({ allowed: false, retryAfter: 30_000 })
    clock.advance(30_000)
    expect(limiter.check('a').allowed).toBe(true)
  })

  it('is off by default: refusals cost nothing', () => {
    const { limiter, clock } = limited(rule)
    limiter.check('a', 2)
    clock.advance(29_999)
    expect(limiter.check('a')).toMatchObject({ allowed: false, retryAfter: 1 })
    clock.advance(1)
    expect(limiter.check('a').allowed).toBe(true)
  })

  it('charges its own rule for a request that another refuses', () => {
    const { limiter } = limited(
      { name: 'closed', by: ['key'], limit: '0/min' },
      { ...rule, limit: '5/min', countRefused: true },
      { name: 'plain', by: ['key'], limit: '5/min' },
    )
    limiter.check('a')
    expect(leftOf(limiter.peek('a'))).toEqual({ closed: 0, login: 4, plain: 5 })
  })
})

it('marks hidden rules in their outcomes, and counts them like others', () => {
  const { limiter } = limited(
    { name: 'shown', by: ['key'], limit: '9/min' },
    { name: 'secret', by: ['key'], limit: '1/min', hidden: true },
  )
  expect(limiter.check('a').outcomes.map(({ hidden }) => hidden)).toEqual([false, true])
  expect(limiter.check('a')).toMatchObject({ allowed: false, rule: 'secret' })
})

it('decides without a rule when none applies', () => {
  const { limiter, store } = limited({ name: 'rule', by: ['user'], limit: '1/min' })
  for (const decision of [limiter.check({}), limiter.peek({}), limiter.check({}, 50)]) {
    expect(json(decision)).toEqual({
      allowed: true,
      reason: 'no-rule',
      rule: null,
      limit: null,
      remaining: Infinity,
      retryAfter: 0,
      resetAfter: 0,
      delay: 0,
      at: 0,
      degraded: false,
      outcomes: [],
      skipped: [{ rule: 'rule', missing: 'user' }],
    })
  }
  limiter.refund({})
  limiter.reset({})
  expect(store.stats().keys).toBe(0)
})

function json(decision: Decision): Decision {
  return (decision as unknown as { toJSON(): Decision }).toJSON()
}
