import { describe, expect, test } from 'vitest'
import { createLimiter, decide, matchPolicy, memoryStore, type Policy } from '../index.ts'

const policy: Policy = {
  name: 'api',
  rules: [
    { name: 'per-user', by: ['user'], limit: '3/h' },
    { name: 'per-path', by: ['path'], limit: '5/h' },
  ],
}

describe('the checks of a policy', () => {
  test('live where those of a limiter do', () => {
    const store = memoryStore()
    const limiter = createLimiter({ policy, store })
    limiter.check({ user: 'a' }, 2)
    const decision = decide(matchPolicy(policy)({ user: 'a' }), { store })
    expect(decision).toMatchObject({ allowed: true, rule: 'per-user', remaining: 0 })
    expect(limiter.check({ user: 'a' }).allowed).toBe(false)
  })

  test('of several sets of attributes are charged together or not at all', () => {
    const store = memoryStore()
    const match = matchPolicy(policy)
    const [user, path] = [match({ user: 'a' }, 4), match({ path: '/' })]
    const attributes = [...user.attributes, ...path.attributes]
    const checks = [...user.checks, ...path.checks]
    expect(decide({ attributes, checks, skipped: [] }, { store })).toMatchObject({ allowed: false })
    expect(createLimiter({ policy, store }).peek({ path: '/' })).toMatchObject({ remaining: 5 })
  })

  test('cost a whole number of units', () => {
    expect(() => matchPolicy(policy)({ user: 'a' }, 0.5)).toThrow(/cost is 0.5/)
  })
})
