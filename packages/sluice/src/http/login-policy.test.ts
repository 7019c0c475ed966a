import { describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { parsePolicy } from '../policy/parse.ts'
import type { Attributes } from '../policy/policy.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { isProven, loginPolicy, prove } from './login-policy.ts'

const DAY = 24 * 60 * 60 * 1000
const ip = '192.0.2.1'

function world() {
  const clock = fakeClock(0)
  return { clock, limiter: createLimiter({ policy: loginPolicy(), store: memoryStore({ clock }) }) }
}

describe('loginPolicy', () => {
  it('is a valid policy that survives JSON', () => {
    expect(parsePolicy(JSON.parse(JSON.stringify(loginPolicy())))).toEqual(
      parsePolicy(loginPolicy()),
    )
  })

  it.each<[string, Attributes, string[]]>([
    ['a stranger', { ip, account: 'ann' }, ['account 4', 'address 9', 'strangers 299']],
    ['a stranger without an account', { ip }, ['address 9', 'strangers 299']],
    [
      'a proven address',
      { ip, account: 'ann', proven: true },
      ['proven-account 9', 'proven-address 99'],
    ],
    ['a proof', { ip, stage: 'proof' }, ['proof 1']],
  ])('asks of %s', (_, attributes, expected) => {
    const { outcomes } = world().limiter.check(attributes)
    expect(outcomes.map(({ rule, remaining }) => `${rule} ${remaining}`)).toEqual(expected)
  })

  it('strangers do not use up what an account has at a proven address', () => {
    const { limiter } = world()
    for (let i = 0; i < 20; i++) limiter.check({ ip: `192.0.2.${i}`, account: 'ann' })
    expect(limiter.check({ ip, account: 'ann' }).allowed).toBe(false)
    expect(limiter.check({ ip, account: 'ann', proven: true }).allowed).toBe(true)
  })

  it('does not tell strangers how much is left for all of them', () => {
    const { limiter } = world()
    const { outcomes } = limiter.check({ ip, account: 'ann' })
    expect(outcomes.filter(({ hidden }) => hidden).map(({ rule }) => rule)).toEqual(['strangers'])
  })

  it('takes other numbers', () => {
    const policy = loginPolicy({ name: 'admin', strangers: '7/min', proof: '2d' })
    expect(policy.name).toBe('admin')
    expect(policy.rules).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'strangers', limit: '7/min' }),
        expect.objectContaining({ name: 'proof', limit: { quota: 2, window: '2d', burst: 2 } }),
      ]),
    )
  })
})

describe('a proof', () => {
  it('applies to its address alone, and ends', () => {
    const { clock, limiter } = world()
    expect(isProven(limiter, ip)).toBeUndefined()
    void prove(limiter, ip)
    expect([isProven(limiter, ip), isProven(limiter, '192.0.2.2')]).toEqual([true, undefined])
    clock.advance(15 * DAY - 1)
    expect(isProven(limiter, ip)).toBe(true)
    clock.advance(1)
    expect(isProven(limiter, ip)).toBeUndefined()
  })

  it('is renewed by every success', () => {
    const { clock, limiter } = world()
    for (let day = 0; day < 100; day += 10) {
      void prove(limiter, ip)
      clock.advance(10 * DAY)
      expect(isProven(limiter, ip)).toBe(true)
    }
    clock.advance(30 * DAY)
    expect(isProven(limiter, ip)).toBeUndefined()
  })

  it('can be asked of a limiter that answers later', async () => {
    const { limiter } = world()
    const later = {
      check: async (attributes: Attributes | string) => limiter.check(attributes),
      peek: async (attributes: Attributes | string) => limiter.peek(attributes),
    }
    expect(await isProven(later, ip)).toBeUndefined()
    await prove(later, ip)
    expect(await isProven(later, ip)).toBe(true)
  })
})
