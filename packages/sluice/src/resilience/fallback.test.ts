// What a limiter on a remote store says while the store cannot answer, rule by rule.
import { describe, expect, it } from 'vitest'
import { SluiceError } from '../errors.ts'
import { limit } from '../limit/limit.ts'
import type { Policy, Rule } from '../policy/policy.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { RemoteStore } from '../stores/store.ts'
import { createLimiter, type LimiterOptions } from '../limiter/create-limiter.ts'
import type { Limiter } from '../limiter/limiter.ts'
import { withResilience } from './resilient-store.ts'

/** A store that is unreachable until `isBack` is set. */
function brokenStore(): RemoteStore & { isBack: boolean } {
  const counts = memoryStore()
  const reach = <T>(act: () => T): Promise<T> =>
    store.isBack
      ? Promise.resolve(act())
      : Promise.reject(new SluiceError('store-unreachable', 'gone', { transient: true }))
  const store: RemoteStore & { isBack: boolean } = {
    isBack: false,
    take: (checks) => reach(() => counts.take(checks)),
    peek: (checks) => reach(() => counts.peek(checks)),
    refund: (checks) => reach(() => counts.refund(checks)),
    reset: (checks) => reach(() => counts.reset(checks)),
    close: () => counts.close(),
  }
  return store
}

const rule = (name: string, more: Partial<Rule> = {}): Rule => ({
  name,
  by: ['user'],
  limit: { quota: 10, window: '1h', algorithm: 'fixed-window' },
  ...more,
})
const policyOf = (...rules: Rule[]): Policy => ({ name: 'p', rules })
const limiterOf = (
  policy: Policy,
  resilience: LimiterOptions['resilience'] = {},
  store: RemoteStore = brokenStore(),
): Limiter => createLimiter({ policy, store, resilience })

/** How many of 30 requests are let through. */
async function admitted(limiter: Limiter, attributes: object = { user: 'ann' }): Promise<number> {
  let count = 0
  for (let i = 0; i < 30; i++) {
    if ((await limiter.check({ ...attributes })).allowed) count += 1
  }
  return count
}

describe('a limiter whose store is unreachable', () => {
  it('grants half of the limit by itself, marked as such, from the first request on', async () => {
    const limiter = limiterOf(policyOf(rule('local')))
    const first = await limiter.check({ user: 'ann' })
    expect(first).toMatchObject({
      allowed: true,
      reason: 'within-limit',
      rule: 'local',
      remaining: 4,
      degraded: true,
      cause: 'store-unreachable',
    })
    expect(first.outcomes).toMatchObject([{ source: 'fallback', limit: { quota: 5, burst: 5 } }])
    expect(await admitted(limiter)).toBe(4)
    const refused = await limiter.check({ user: 'ann' })
    expect(refused).toMatchObject({ allowed: false, reason: 'over-limit', degraded: true })
    expect(refused.retryAfter).toBeGreaterThan(0)
    expect(JSON.parse(JSON.stringify(refused))).toMatchObject({
      degraded: true,
      cause: 'store-unreachable',
      outcomes: [{ source: 'fallback' }],
    })
    await limiter.close()
  })

  it.each<[what: string, options: LimiterOptions['resilience'], quota: number, grants: number]>([
    ['its share', { fallbackShare: 0.29 }, 100, 29],
    ['all of it', { fallbackShare: 1 }, 10, 10],
    ['at least one', { fallbackShare: 0.01 }, 10, 1],
    ['nothing of nothing', {}, 0, 0],
    ['its part among replicas', { replicas: 3 }, 10, 3],
    ['at least one among many replicas', { replicas: 50 }, 10, 1],
    ['exactly its part', { replicas: 49 }, 98, 2],
  ])('grants %s', async (_, options, quota, grants) => {
    const limit = { quota, window: '1h', algorithm: 'fixed-window' } as const
    const limiter = limiterOf(policyOf(rule('local', { limit })), options)
    expect(await admitted(limiter)).toBe(grants)
  })

  it('scales bursts, tiers and overrides too', async () => {
    const limits = rule('local', {
      limit: { quota: 8, window: '1h', burst: 4 },
      tiers: { attribute: 'plan', limits: { big: '20/h', free: 'unlimited' } },
      overrides: [{ when: { user: 'eve' }, limit: '2/h' }],
    })
    const limiter = limiterOf(policyOf(limits))
    expect(await admitted(limiter)).toBe(2)
    expect(await admitted(limiter, { user: 'bob', plan: 'big' })).toBe(10)
    expect(await admitted(limiter, { user: 'bob', plan: 'free' })).toBe(30)
    expect(await admitted(limiter, { user: 'eve' })).toBe(1)
  })

  it('lets through what an open rule limits', async () => {
    const limiter = limiterOf(policyOf(rule('open', { onStoreFailure: 'open' })))
    expect(await admitted(limiter)).toBe(30)
    const decision = await limiter.check({ user: 'ann' })
    expect(decision).toMatchObject({ allowed: true, degraded: true, retryAfter: 0 })
    expect(decision.outcomes).toMatchObject([{ source: 'open', remaining: 10 }])
  })

  it('refuses what a closed rule limits, as unavailable and not as over the limit', async () => {
    const limiter = limiterOf(policyOf(rule('closed', { onStoreFailure: 'closed' })))
    for (let i = 0; i < 10; i++) {
      const decision = await limiter.check({ user: 'ann' })
      expect(decision).toMatchObject({ allowed: false, reason: 'unavailable', rule: 'closed' })
      expect(decision.retryAfter).toBeGreaterThanOrEqual(1)
      expect(decision.retryAfter).toBeLessThanOrEqual(1000)
    }
  })

  it('answers mixed rules one by one', async () => {
    const mixed = policyOf(
      rule('small', { limit: { quota: 4, window: '1h', algorithm: 'fixed-window' } }),
      rule('large'),
      rule('open', { onStoreFailure: 'open' }),
      rule('login', { when: { route: '/login' }, onStoreFailure: 'closed' }),
    )
    const limiter = limiterOf(mixed)
    const login = await limiter.check({ user: 'ann', route: '/login' })
    expect(login).toMatchObject({ allowed: false, reason: 'unavailable', rule: 'login' })
    expect(
      login.outcomes.map(({ rule, allowed, source, remaining }) => [
        rule,
        allowed,
        source,
        remaining,
      ]),
    ).toEqual([
      ['small', true, 'fallback', 2],
      ['large', true, 'fallback', 5],
      ['open', true, 'open', 10],
      ['login', false, 'closed', 0],
    ])
    // The refusal charged nothing, and the two local rules are charged together or not at all.
    expect(await admitted(limiter)).toBe(2)
    const { outcomes } = await limiter.peek({ user: 'ann' })
    expect(outcomes.map(({ remaining }) => remaining)).toEqual([0, 3, 10])
  })

  it('takes no notice of a closed rule that is only counted', async () => {
    const shadow = rule('shadow', { onStoreFailure: 'closed', shadow: true })
    const limiter = limiterOf(policyOf(rule('local'), shadow))
    expect(await limiter.check({ user: 'ann' })).toMatchObject({ allowed: true, rule: 'local' })
  })

  it('says never only of what the whole limit never allows', async () => {
    const nothing = { quota: 0, window: '1h' } as const
    const limiter = limiterOf(
      policyOf(rule('some', { limit: '10/h' }), rule('none', { by: ['guest'], limit: nothing })),
      { breaker: { failures: 1000, calls: 1000 } },
    )
    const ann = { user: 'ann' }
    expect(await limiter.check(ann, 5)).toMatchObject({ allowed: true })
    expect((await limiter.check(ann, 5)).retryAfter).toBeGreaterThan(1000)
    for (const cost of [6, 10]) {
      const wait = { retryAfter: 1, availableAfter: 1 }
      expect(await limiter.check(ann, cost)).toMatchObject({
        allowed: false,
        reason: 'over-limit',
        retryAfter: 1,
        outcomes: [wait],
      })
      expect(await limiter.peek(ann, cost)).toMatchObject({ allowed: false, retryAfter: 1 })
    }
    expect(await limiter.check(ann, 12)).toMatchObject({ allowed: false, retryAfter: null })
    expect(await limiter.check({ guest: 'bob' })).toMatchObject({
      allowed: false,
      retryAfter: null,
    })
  })

  it.each([[[]], [{}], [undefined]])('answers for a store that answers %o', async (garbage) => {
    const wrong = async (): Promise<never> => garbage as never
    const store: RemoteStore = { ...brokenStore(), take: wrong, peek: wrong }
    const limiter = limiterOf(policyOf(rule('one'), rule('two')), {}, store)
    const fallback = { degraded: true, cause: 'store-failed', allowed: true }
    expect(await limiter.check({ user: 'ann' })).toMatchObject({ ...fallback, remaining: 4 })
    expect(await limiter.peek({ user: 'ann' })).toMatchObject({ ...fallback, remaining: 4 })
  })

  it('answers requests that no rule limits, and rejects misuse, as ever', async () => {
    const limiter = limiterOf(policyOf(rule('local')))
    for (let i = 0; i < 10; i++) await limiter.check({ user: 'ann' })
    expect(await limiter.check({})).toMatchObject({ allowed: true, reason: 'no-rule' })
    await expect(limiter.check('')).rejects.toMatchObject({ code: 'invalid-attributes' })
    await expect(limiter.check({ user: 'ann' }, -1)).rejects.toMatchObject({ code: 'invalid-cost' })
  })

  it('hands out no second share when the store comes and goes', async () => {
    const store = brokenStore()
    const limiter = limiterOf(
      policyOf(rule('local')),
      { breaker: { firstProbe: 1, lastProbe: 1 } },
      store,
    )
    let fromFallback = 0
    for (let flap = 0; flap < 10; flap++) {
      store.isBack = flap % 2 === 1
      for (let i = 0; i < 20; i++) {
        const { allowed, degraded } = await limiter.check({ user: 'ann' })
        if (allowed && degraded) fromFallback += 1
      }
    }
    expect(fromFallback).toBe(5)
  })

  it('keeps the counts of a limiter that another one replaces, and forgets those of the last', async () => {
    const store = brokenStore()
    const old = limiterOf(policyOf(rule('local')), {}, store)
    expect(await admitted(old)).toBe(5)
    const young = limiterOf(policyOf(rule('local')), {}, store)
    await old.close()
    await old.close()
    expect(await admitted(young)).toBe(0)
    await young.close()
    expect(await admitted(limiterOf(policyOf(rule('local')), {}, store))).toBe(5)
  })

  it('is closed for good after close, whether it has answered or not', async () => {
    for (const before of [0, 10]) {
      const limiter = limiterOf(policyOf(rule('local')), { breaker: { failures: 1 } })
      for (let i = 0; i < before; i++) await limiter.check({ user: 'ann' })
      await limiter.close()
      await expect(limiter.check({ user: 'ann' })).rejects.toMatchObject({ code: 'limiter-closed' })
      await expect(limiter.peek({ user: 'ann' })).rejects.toMatchObject({ code: 'limiter-closed' })
      await expect(limiter.refund({ user: 'ann' })).rejects.toMatchObject({
        code: 'limiter-closed',
      })
    }
  })
})

describe('options of resilience', () => {
  const store = brokenStore()
  const patient: RemoteStore = { ...store, timeout: 100 }
  it.each<[options: unknown, message: string]>([
    [true, 'resilience is true; accepted: false, or an object with timeout, fallbackShare'],
    ['yes', 'resilience is "yes"; accepted'],
    [null, 'resilience is null; accepted'],
    [
      { timeuot: 5 },
      'resilience: unknown option "timeuot"; did you mean timeout? accepted: timeout, fallbackShare',
    ],
    [{ timeout: 0 }, 'resilience: timeout is 0; accepted: whole milliseconds, 1 or more'],
    [{ timeout: '100' }, 'resilience: timeout is "100"; accepted'],
    [{ timeout: 101 }, 'resilience: timeout is 101, but the store gives up after 100 ms itself'],
    [{ fallbackShare: 0 }, 'resilience: fallbackShare is 0; accepted: a number above 0, at most 1'],
    [{ fallbackShare: 1.5 }, 'resilience: fallbackShare is 1.5; accepted'],
    [{ fallbackShare: Number.NaN }, 'resilience: fallbackShare is NaN; accepted'],
    [{ replicas: 0 }, 'resilience: replicas is 0; accepted: a whole number, 1 or more'],
    [{ replicas: 2.5 }, 'resilience: replicas is 2.5; accepted'],
    [{ replicas: 2, fallbackShare: 0.5 }, 'resilience: both fallbackShare and replicas are given'],
    [{ onEvent: 5 }, 'resilience: onEvent is 5; accepted: a function'],
    [{ breaker: 5 }, 'resilience: breaker: options are 5; accepted: an object with failures'],
    [
      { breaker: { failure: 5 } },
      'resilience: breaker: unknown option "failure"; did you mean failures?',
    ],
    [{ breaker: { failures: 0 } }, 'resilience: breaker: failures is 0; accepted: a whole number'],
    [{ breaker: { ratio: 2 } }, 'resilience: breaker: ratio is 2; accepted: a number above 0'],
  ])('are refused when wrong: %j', (resilience, message) => {
    const make = (): unknown =>
      createLimiter({ limit: '1/s', store: patient, resilience: resilience as false })
    expect(make).toThrow(expect.objectContaining({ code: 'invalid-option' }))
    expect(make).toThrow(`createLimiter: ${message}`)
  })

  it('are refused for a store that cannot fail', () => {
    const make = (): unknown => createLimiter({ limit: '1/s', resilience: { timeout: 5 } })
    expect(make).toThrow('createLimiter: resilience: the store answers at once and cannot fail')
    expect(createLimiter({ limit: '1/s', resilience: false }).check('a').allowed).toBe(true)
  })

  it('false passes on errors, and signals still work', async () => {
    const limiter = createLimiter({ limit: '1/s', store, resilience: false })
    await expect(limiter.check('a')).rejects.toMatchObject({ code: 'store-unreachable' })
    await expect(limiter.check('a', 1, AbortSignal.abort('gone'))).rejects.toBe('gone')
  })

  it('onEvent receives what happens', async () => {
    const types: string[] = []
    const onEvent = ({ type }: { type: string }): void => void types.push(type)
    const limiter = createLimiter({ limit: '1/s', store, resilience: { onEvent } })
    for (let i = 0; i < 3; i++) await limiter.check('a')
    expect(types).toEqual(['fallback', 'fallback', 'fallback'])
  })
})

it('keeps the share that its store was made with, whatever becomes of the options', async () => {
  const lost = () => Promise.reject(new Error('no connection'))
  const store = { take: lost, peek: lost, refund: lost, reset: lost, close: () => {} }
  const options = { fallbackShare: 0.5, onEvent: () => {} }
  const guarded = withResilience(store, options)
  options.fallbackShare = 1
  const check = { space: 's', key: 'k', limit: limit('100/min'), cost: 1 }
  const [verdict] = await guarded.take([check])
  expect(verdict!.remaining).toBe(49)
  await guarded.close()
})
