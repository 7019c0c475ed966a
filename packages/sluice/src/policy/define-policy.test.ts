import { describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { definePolicy } from './define-policy.ts'

describe('definePolicy', () => {
  it('returns a policy that a limiter enforces', () => {
    const policy = definePolicy(['user'], {
      name: 'api',
      rules: [{ name: 'per-user', by: ['user'], limit: '1/min' }],
    })
    const limiter = createLimiter({ policy })
    expect([1, 2].map(() => limiter.check({ user: 'ann' }).allowed)).toEqual([true, false])
    limiter.close()
  })

  it('throws for an invalid policy at once', () => {
    const rules = [{ name: 'a', by: ['user'], limit: 'often' }] as const
    expect(() => definePolicy(['user'], { name: 'api', rules })).toThrow('rules[0].limit')
  })
})
