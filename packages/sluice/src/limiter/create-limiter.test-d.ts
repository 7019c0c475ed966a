import { describe, expectTypeOf, it } from 'vitest'
import type { Decision } from '../decision/decision.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { redisStore, type RedisClient } from '../redis/index.ts'
import type { AsyncStore, MaybePromise, Store, SyncStore } from '../stores/store.ts'
import type { LimiterControls } from './controls.ts'
import { createLimiter } from './create-limiter.ts'
import type { Limiter, SyncLimiter } from './limiter.ts'

const remote = {} as AsyncStore

class Elsewhere {
  declare take: Store['take']
  declare peek: Store['peek']
  declare refund: Store['refund']
  declare reset: Store['reset']
  declare close: Store['close']
}

describe('a limiter', () => {
  it('without a store, or on one that answers at once, returns no promises', () => {
    expectTypeOf(createLimiter({ limit: '1/s' })).toEqualTypeOf<SyncLimiter & LimiterControls>()
    expectTypeOf(createLimiter({ limit: '1/s', store: memoryStore() })).toEqualTypeOf<
      SyncLimiter & LimiterControls
    >()
    expectTypeOf(createLimiter({ limit: '1/s', store: {} as SyncStore })).toEqualTypeOf<
      SyncLimiter & LimiterControls
    >()
    expectTypeOf(createLimiter({ limit: '1/s' }).check('a')).toEqualTypeOf<Decision>()
    expectTypeOf(createLimiter({ limit: '1/s' }).close()).toEqualTypeOf<void>()
  })

  it('on another store returns promises', () => {
    const limiter = createLimiter({ limit: '1/s', store: remote })
    expectTypeOf(limiter).toEqualTypeOf<Limiter & LimiterControls>()
    expectTypeOf(limiter.check('a')).toEqualTypeOf<Promise<Decision>>()
    expectTypeOf(limiter.close()).toEqualTypeOf<Promise<void>>()
  })

  it('on Redis, or on a store that says nothing of being synchronous, returns promises', () => {
    const redis = redisStore({} as RedisClient)
    expectTypeOf(createLimiter({ limit: '1/s', store: redis })).toEqualTypeOf<
      Limiter & LimiterControls
    >()
    const elsewhere = new Elsewhere()
    expectTypeOf(createLimiter({ limit: '1/s', store: elsewhere })).toEqualTypeOf<
      Limiter & LimiterControls
    >()
  })

  it('on a store of which nothing is known may return either', () => {
    const limiter = createLimiter({ limit: '1/s', store: {} as Store })
    expectTypeOf(limiter).toEqualTypeOf<(Limiter | SyncLimiter) & LimiterControls>()
    expectTypeOf(limiter.check('a')).toEqualTypeOf<MaybePromise<Decision>>()
    const either = createLimiter({ limit: '1/s', store: {} as AsyncStore | SyncStore })
    expectTypeOf(either).toEqualTypeOf<(Limiter | SyncLimiter) & LimiterControls>()
    // @ts-expect-error there may be no promise
    void limiter.check('a').then
  })

  it('takes a string or attributes, and a cost', () => {
    const limiter = createLimiter({ limit: '1/s' })
    const attributes = { user: 'a', plan: null, ip: undefined, beta: true, size: 5 }
    expectTypeOf(limiter.check(attributes, 2)).toEqualTypeOf<Decision>()
    expectTypeOf(limiter.refund('a', 1, limiter.check('a').at)).toEqualTypeOf<void>()
    // @ts-expect-error nothing to count by
    limiter.check()
    // @ts-expect-error not an attribute's value
    limiter.check({ user: { id: 1 } })
    // @ts-expect-error a number is not a key
    limiter.check(42)
    // @ts-expect-error a cost is a number
    limiter.check('a', '1')
  })

  it('is made from a limit or a policy, and nothing that is not known', () => {
    const policy = { name: 'api', rules: [{ name: 'a', by: [], limit: '1/s' }] } as const
    expectTypeOf(createLimiter({ policy })).toEqualTypeOf<SyncLimiter & LimiterControls>()
    expectTypeOf(
      createLimiter({ limit: { quota: 1, window: '1h', algorithm: 'sliding-log' } }),
    ).toEqualTypeOf<SyncLimiter & LimiterControls>()
    // @ts-expect-error not a limit
    createLimiter({ limit: true })
    // @ts-expect-error a typing mistake
    createLimiter({ limit: '1/s', hashkeys: true })
    // @ts-expect-error a rule needs a limit
    createLimiter({ policy: { name: 'api', rules: [{ name: 'a', by: [] }] } })
    // @ts-expect-error not a store
    createLimiter({ limit: '1/s', store: {} })
    // @ts-expect-error a policy has its own limits
    createLimiter({ limit: '1/s', policy })
    // @ts-expect-error neither a limit nor a policy
    createLimiter({ hashKeys: true })
  })
})

describe('a decision', () => {
  it('cannot be changed', () => {
    expectTypeOf<Decision>().toEqualTypeOf<Readonly<Decision>>()
    const decision = createLimiter({ limit: '1/s' }).check('a')
    // @ts-expect-error read only
    decision.allowed = true
  })

  it('may have no wait: the cost never fits', () => {
    expectTypeOf<Decision['retryAfter']>().toEqualTypeOf<number | null>()
  })
})
