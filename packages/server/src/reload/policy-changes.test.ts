import { parsePolicy } from 'sluice'
import { describe, expect, it } from 'vitest'
import { policyChanges } from './policy-changes.ts'

const policy = (...rules: object[]) => parsePolicy({ name: 'api', rules })
const rule = (name: string, limit: string, rest: object = {}) => ({
  name,
  by: ['ip'],
  limit,
  ...rest,
})

describe('the changes of a reload', () => {
  it('are listed rule by rule', () => {
    const before = [
      policy(
        rule('anonymous', '10/min'),
        rule('old', '1/s'),
        rule('trial', '5/s', { shadow: true }),
      ),
    ]
    const after = [
      policy(
        rule('anonymous', '12/min', { hidden: true }),
        rule('new', '2/s'),
        rule('trial', '5/s'),
      ),
      parsePolicy({ name: 'web', rules: [rule('all', '1/s')] }),
    ]
    expect(policyChanges(before, after)).toEqual([
      'api/anonymous: token bucket 10/min → token bucket 12/min',
      'api/anonymous: hidden changed',
      'api/new: the rule is new, token bucket 2/s',
      'api/trial: counted only → enforced',
      'api/old: the rule is removed',
      'web: the policy is new',
    ])
    expect(policyChanges(after, [])).toEqual([
      'api: the policy is removed',
      'web: the policy is removed',
    ])
    expect(policyChanges(after, after)).toEqual([])
  })

  it('say what is on trial, and that nothing is any more', () => {
    const before = [policy(rule('anonymous', '10/min'))]
    const after = [policy(rule('anonymous', '10/min', { candidate: '5/min' }))]
    expect(policyChanges(before, after)).toEqual([
      'api/anonymous: on trial: nothing → token bucket 5/min',
    ])
    expect(policyChanges(after, before)).toEqual([
      'api/anonymous: on trial: token bucket 5/min → nothing',
    ])
  })

  it('are counted when there are many', () => {
    const many = Array.from({ length: 50 }, (_, i) => rule(`r${i}`, '1/s'))
    const changes = policyChanges([policy(rule('x', '1/s'))], [policy(rule('x', '1/s'), ...many)])
    expect(changes).toHaveLength(21)
    expect(changes.at(-1)).toBe('and 30 more')
  })
})
