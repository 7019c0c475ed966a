import { describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { parsePolicy } from '../policy/parse.ts'
import type { Attributes } from '../policy/policy.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { tieredPolicy } from './tiered-policy.ts'

const policy = tieredPolicy({
  perUser: '100/min',
  plans: { pro: '500/min', partner: 'unlimited' },
  perAnonymousAddress: '10/min',
  login: { perAccount: '5/15min', perAddress: '20/15min' },
})

describe('tieredPolicy', () => {
  it('is a valid policy that survives JSON', () => {
    expect(parsePolicy(JSON.parse(JSON.stringify(policy)))).toEqual(parsePolicy(policy))
  })

  it.each<[string, Attributes, string[]]>([
    ['a user at the only guard', { ip: '192.0.2.1', user: 'ann' }, ['address 999', 'user 99']],
    ['a stranger at the only guard', { ip: '192.0.2.1' }, ['address 999', 'anonymous 9']],
    ['anybody before authentication', { ip: '192.0.2.1', stage: 'arrival' }, ['address 999']],
    ['a user after it', { ip: '192.0.2.1', user: 'ann', stage: 'identity' }, ['user 99']],
    [
      'a plan after it',
      { ip: '192.0.2.1', user: 'ann', plan: 'pro', stage: 'identity' },
      ['user 499'],
    ],
    [
      'a plan without a limit',
      { ip: '192.0.2.1', user: 'ann', plan: 'partner', stage: 'identity' },
      [],
    ],
    ['a stranger after it', { ip: '192.0.2.1', stage: 'identity' }, ['anonymous 9']],
    [
      'a login',
      { ip: '192.0.2.1', account: 'ann', stage: 'login' },
      ['login-account 4', 'login-address 19'],
    ],
  ])('asks of %s', (_, attributes, expected) => {
    const limiter = createLimiter({ policy, store: memoryStore({ clock: fakeClock(0) }) })
    const { outcomes } = limiter.check(attributes)
    expect(outcomes.map(({ rule, remaining }) => `${rule} ${remaining}`)).toEqual(expected)
  })

  it('takes a net of ten times the users limit, burst and all, unless another is given', () => {
    const limit = { quota: 60, window: '1min', burst: 5, algorithm: 'gcra' } as const
    const given = { perUser: limit, perAnonymousAddress: '1/min' } as const
    expect(tieredPolicy(given).rules[0]).toMatchObject({
      limit: { algorithm: 'gcra', quota: 600, burst: 50 },
    })
    expect(tieredPolicy({ ...given, perAddress: '7/min', name: 'web' })).toMatchObject({
      name: 'web',
      rules: [{ name: 'address', limit: '7/min' }, { name: 'user' }, { name: 'anonymous' }],
    })
  })
})
