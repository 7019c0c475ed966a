import { describe, expect, it } from 'vitest'
import { LeaseVerdict } from '../coordination/lease-verdict.ts'
import type { LeasePath, AsyncStore } from '../stores/store.ts'
import { createLimiter, type LimiterSettings } from './create-limiter.ts'

const RULE = {
  name: 'per-user',
  by: ['user'],
  limit: '10/s',
  coordination: 'leased',
} as const

/** A store with leases of every key but `cold`; it counts the lists that it is given. */
function leasing(): { store: AsyncStore; lists: () => number } {
  let lists = 0
  const verdictOf = (key: string, limit: Parameters<NonNullable<AsyncStore['leasePath']>>[1]) =>
    key === 'cold' ? undefined : new LeaseVerdict(limit, 7, 1000, 2000)
  const store: AsyncStore = {
    coordinates: true,
    leasePath: (_, limit): LeasePath => ({ takeNow: (key) => verdictOf(key, limit) }),
    takeNow([check]) {
      lists += 1
      const verdict = verdictOf(check!.key, check!.limit)
      return verdict && [verdict]
    },
    take: async (checks) => {
      lists += 1
      return checks.map(({ limit }) => new LeaseVerdict(limit, 0, 1000, 2000))
    },
    peek: async () => [],
    refund() {},
    reset() {},
    close() {},
  }
  return { store, lists: () => lists }
}

function limiterOf(settings: Partial<LimiterSettings<AsyncStore>>, rule: object = {}) {
  const policy = { name: 'api', rules: [{ ...RULE, ...rule }] }
  return createLimiter({ policy, store: leasing().store, resilience: false, ...settings })
}

describe('a limiter of one leased rule', () => {
  it('decides without a list of checks what a lease covers', async () => {
    const { store, lists } = leasing()
    const limiter = limiterOf({ store })
    expect(limiter.checkNow({ user: 'ann' })).toMatchObject({ allowed: true, remaining: 7 })
    expect(await limiter.check({ user: 'ann' })).toMatchObject({ allowed: true, remaining: 7 })
    expect(limiter.checkNow({ user: 'cold' })).toBeUndefined()
    expect(lists()).toBe(0)
    expect(await limiter.check({ user: 'cold' })).toMatchObject({ remaining: 0 })
    expect(lists()).toBe(1)
  })

  it('answers as the ordinary path does', () => {
    const short = limiterOf({}).checkNow({ user: 'ann' })!
    const long = limiterOf({ onDecision() {} }).checkNow({ user: 'ann' })!
    expect(JSON.parse(JSON.stringify(short))).toEqual(JSON.parse(JSON.stringify(long)))
    const { reason, rule, at, degraded, outcomes } = short
    expect({ reason, rule, at, degraded, outcomes }).toMatchObject({
      reason: 'within-limit',
      rule: 'per-user',
      at: 1000,
      degraded: false,
      outcomes: [{ source: 'lease', remaining: 7, retryAfter: 0, delay: 0, allowed: true }],
    })
  })

  it('leaves other costs, and rules that do more, to the ordinary path', () => {
    const { store, lists } = leasing()
    expect(limiterOf({ store }).checkNow({ user: 'ann' }, 2)).toBeDefined()
    expect(lists()).toBe(1)
    for (const rule of [{ when: { user: 'ann' } }, { shadow: true }, { cost: 1 }])
      expect(limiterOf({ store }, rule).checkNow({ user: 'ann' })).toBeDefined()
    expect(lists()).toBe(4)
  })

  it('applies blocks, and decides by leases again when they end', () => {
    const { store, lists } = leasing()
    const limiter = limiterOf({ store })
    const block = limiter.block({ user: 'ann' }, '1m')
    expect(limiter.checkNow({ user: 'ann' })).toBeUndefined()
    expect(limiter.checkNow({ user: 'bob' })).toBeDefined()
    expect(lists()).toBe(1)
    block.remove()
    expect(limiter.checkNow({ user: 'ann' })).toBeDefined()
    expect(lists()).toBe(1)
  })

  it('takes a key for a bare limit, and hashes keys where it should', () => {
    const { store, lists } = leasing()
    const keyed = limiterOf({ store }, { by: ['key'] })
    expect(keyed.checkNow('ann')).toBeDefined()
    expect(keyed.checkNow('cold')).toBeUndefined()
    expect(lists()).toBe(0)
    expect(limiterOf({ store, hashKeys: true }).checkNow({ user: 'cold' })).toBeDefined()
    expect(lists()).toBe(0)
  })

  it('refuses bad input, and everything once it is closed', async () => {
    const limiter = limiterOf({})
    expect(() => limiter.checkNow('ann')).toThrow(/attributes are "?'?ann/)
    expect(() => limiter.checkNow(['ann'] as never)).toThrow(/attributes/)
    await expect(limiter.check(null as never)).rejects.toThrow(/attributes/)
    await limiter.close()
    expect(() => limiter.checkNow({ user: 'ann' })).toThrow(/closed/)
  })
})
