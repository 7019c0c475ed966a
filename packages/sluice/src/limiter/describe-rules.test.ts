import { describe, expect, it } from 'vitest'
import { createLimiter, limit, type AsyncStore, type Policy } from '../index.ts'

const policy: Policy = {
  name: 'api',
  rules: [
    {
      name: 'per-user',
      by: ['user'],
      limit: '100/min',
      tiers: { attribute: 'plan', limits: { pro: '500/min', staff: 'unlimited' } },
    },
    { name: 'writes', by: ['user'], when: { method: 'POST' }, limit: '10/min', cost: 2 },
    { name: 'all', by: [], limit: '1000/s', shadow: true },
  ],
}
const limiter = createLimiter({ policy })

describe('the description of a request', () => {
  it('says which rules are enforced, with which limit and cost', () => {
    expect(limiter.describe({ user: 'ann', plan: 'pro', method: 'POST' })).toEqual([
      {
        rule: 'per-user',
        effect: 'enforced',
        limit: limit('500/min'),
        cost: 1,
        text: 'per-user enforces token bucket 500/min for user "ann"',
      },
      {
        rule: 'writes',
        effect: 'enforced',
        limit: limit('10/min'),
        cost: 2,
        text: 'writes enforces token bucket 10/min for user "ann"',
      },
      {
        rule: 'all',
        effect: 'shadow',
        limit: limit('1000/s'),
        cost: 1,
        text: 'all counts, without enforcing, token bucket 1000/s for all requests together',
      },
    ])
  })

  it.each([
    [
      { usr: 'ann', method: 'POST' },
      'missing',
      'per-user is skipped: user is not known, and the rule counts by it',
    ],
    [{ user: 'ann', plan: 'staff' }, 'unlimited', 'per-user is unlimited for this request'],
  ])('says why a rule does not limit %j', (attributes, effect, text) => {
    const [first] = limiter.describe(attributes)
    expect(first).toMatchObject({ effect, limit: null, cost: 0, text })
  })

  it.each([
    [{ user: 'ann', method: 'post' }, '"post"'],
    [{ user: 'ann' }, 'not known'],
  ])('names the condition that %j does not meet', (attributes, found) => {
    expect(limiter.describe(attributes)[1]).toMatchObject({
      effect: 'unmet',
      attribute: 'method',
      text: `writes does not apply: method is ${found}; the rule requires "POST"`,
    })
  })

  it('of a bare limit takes a key, as check does', () => {
    const bare = createLimiter({ limit: '5/s' })
    expect(bare.describe('ann', 3)).toMatchObject([{ effect: 'enforced', cost: 3 }])
    expect(() => bare.describe('')).toThrow(/accepted: a key that is not empty/)
    expect(() => bare.describe('ann', -1)).toThrow(/cost is -1/)
  })

  it('never asks the store', () => {
    const store: AsyncStore = {
      take: () => Promise.reject(new Error('asked')),
      peek: () => Promise.reject(new Error('asked')),
      refund: () => Promise.reject(new Error('asked')),
      reset: () => Promise.reject(new Error('asked')),
      close: () => Promise.resolve(),
    }
    expect(createLimiter({ limit: '1/s', store }).describe('ann')).toHaveLength(1)
  })
})
