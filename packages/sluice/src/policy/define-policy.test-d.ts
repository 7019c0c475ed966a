import { describe, expectTypeOf, it } from 'vitest'
import type { Decision } from '../decision/decision.ts'
import { createLimiter } from '../limiter/create-limiter.ts'
import type { Limiter, SyncLimiter } from '../limiter/limiter.ts'
import type { AsyncStore } from '../stores/store.ts'
import { definePolicy } from './define-policy.ts'
import type { Policy } from './policy.ts'

const names = ['user', 'plan', 'size'] as const
const policy = definePolicy(['user', 'plan', 'size'], {
  name: 'api',
  rules: [{ name: 'per-user', by: ['user'], when: { plan: 'pro' }, limit: '1/s', cost: 'size' }],
})

describe('definePolicy', () => {
  it('makes a policy like any other', () => {
    expectTypeOf(policy).toExtend<Policy>()
    expectTypeOf(createLimiter({ policy })).toExtend<SyncLimiter>()
  })

  it('accepts only the named attributes in rules', () => {
    const rule = { name: 'a', by: ['user'], limit: '1/s' } as const
    expectTypeOf(definePolicy(names, { name: 'api', rules: [rule] })).toExtend<Policy>()
    // @ts-expect-error no such attribute
    definePolicy(names, { name: 'api', rules: [{ ...rule, by: ['usr'] }] })
    // @ts-expect-error no such attribute
    definePolicy(names, { name: 'api', rules: [{ name: 'a', by: [], limit: '1/s', cost: 'sise' }] })
    definePolicy(names, {
      name: 'api',
      // @ts-expect-error no such attribute
      rules: [{ name: 'a', by: [], limit: '1/s', when: { plam: 'pro' } }],
    })
  })

  it('accepts only the named attributes in calls', () => {
    const limiter = createLimiter({ policy })
    expectTypeOf(limiter.check({ user: 'a', plan: null })).toEqualTypeOf<Decision>()
    // @ts-expect-error no such attribute
    limiter.check({ usr: 'a' })
    const remote = createLimiter({ policy, store: {} as AsyncStore })
    expectTypeOf(remote).toExtend<Limiter>()
    expectTypeOf(remote.check({ user: 'a' })).toEqualTypeOf<Promise<Decision>>()
    // @ts-expect-error no such attribute
    void remote.check({ usr: 'a' })
  })
})
