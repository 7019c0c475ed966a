import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ALGORITHMS } from '../limit/limit.ts'
import { compilePolicy, limitsOf, placerFor, type CompiledRule } from './compile.ts'
import type { PlacedLimit } from '../limit/placed-limit.ts'
import { parsePolicy } from './parse.ts'
import type { Attributes, Policy, Rule } from './policy.ts'

const rule: Rule = { name: 'per-user', by: ['user'], limit: '100/min' }

function compiled(fields: Partial<Rule> = {}, policyName = 'api'): CompiledRule {
  const policy: Policy = { name: policyName, rules: [{ ...rule, ...fields }] }
  return compilePolicy(parsePolicy(policy))[0]!
}
const spaceOf = (fields: Partial<Rule>, policyName?: string): string =>
  compiled(fields, policyName).base!.space

describe('compilePolicy', () => {
  it('keeps the order of the rules and the rules themselves', () => {
    const policy = parsePolicy({ name: 'api', rules: [rule, { ...rule, name: 'second' }] })
    const rules = compilePolicy(policy)
    expect(rules.map((one) => one.rule)).toEqual(policy.rules)
    expect(rules[1]!.rule).toBe(policy.rules[1])
  })

  it('sets no condition for a rule without one', () => {
    expect(compiled()).toMatchObject({
      by: ['user'],
      applies: null,
      choose: null,
      cost: undefined,
      shadow: false,
      countRefused: false,
      base: { limit: { algorithm: 'token-bucket', quota: 100, window: 60_000, burst: 100 } },
    })
    expect(compiled({ when: {}, overrides: [] })).toMatchObject({ applies: null, choose: null })
  })

  it('takes over cost, shadow and countRefused', () => {
    const said = { cost: 'units', shadow: true, countRefused: true }
    expect(compiled(said)).toMatchObject(said)
    expect(compiled({ cost: 0 }).cost).toBe(0)
  })

  it('applies when the condition holds', () => {
    const { applies } = compiled({ when: { user: 'absent' } })
    expect(applies!({})).toBe(true)
    expect(applies!({ user: 'ann' })).toBe(false)
  })
})

describe('choose', () => {
  const { choose, base } = compiled({
    tiers: {
      attribute: 'plan',
      limits: { free: '10/min', staff: 'unlimited', 7: '7/min', daily: '5/day' },
    },
    overrides: [
      { when: { user: 'banned' }, limit: '0/min' },
      { when: { ip: '10.0.0.0/8' }, limit: 'unlimited' },
      { when: { ip: '10.1.0.0/16' }, limit: '999/min' },
      { when: { user: 'ban*' }, limit: '1/min' },
    ],
  })

  it.each<[Attributes, quota: number | null]>([
    [{}, 100],
    [{ plan: 'free' }, 10],
    [{ plan: 'FREE' }, 100],
    [{ plan: 'staff' }, null],
    [{ plan: 7 }, 7],
    [{ plan: 'daily' }, 5],
    [{ plan: 'constructor' }, 100],
    [{ plan: '__proto__' }, 100],
    [{ plan: '' }, 100],
    [{ plan: 'free', user: 'banned' }, 0],
    [{ plan: 'staff', user: 'banana' }, 1],
    [{ user: 'banned', ip: '10.0.0.1' }, 0],
    [{ user: 'ann', ip: '10.1.0.1' }, null],
  ])('for %j has quota %s', (attributes, quota) => {
    expect(choose!(attributes)?.limit.quota ?? null).toBe(quota)
  })

  it('keeps one count where only the quota differs, and another where the window does', () => {
    expect(choose!({ plan: 'free' })!.space).toBe(base!.space)
    expect(choose!({ plan: 'daily' })!.space).not.toBe(base!.space)
  })

  it('gives the base itself when no tier is named', () => {
    expect(choose!({ plan: 'other' })).toBe(base)
    expect(
      compiled({ overrides: [{ when: { a: 'b' }, limit: '1/s' }] }).choose!({}),
    ).toHaveProperty('limit.quota', 100)
  })

  it('knows a tier named __proto__', () => {
    const limits = JSON.parse('{ "__proto__": "3/min" }') as Record<string, '3/min'>
    const tiered = compiled({ tiers: { attribute: 'plan', limits } })
    expect(tiered.choose!({ plan: '__proto__' })!.limit.quota).toBe(3)
  })
})

describe('the slowest quota of a count', () => {
  const slowestOf = (fields: Partial<Rule>): (number | undefined)[] =>
    placesIn(fields).map(({ slowestQuota }) => slowestQuota)

  /** The base, then each tier. */
  function placesIn(fields: Partial<Rule>): readonly PlacedLimit[] {
    const rule = { name: 'r', by: ['user'], limit: '100/min', ...fields } as Rule
    const place = placerFor('api', rule)
    return limitsOf(rule).map(place)
  }

  it.each<[string, Partial<Rule>, (number | undefined)[]]>([
    ['is not needed by a rule of one limit', {}, [undefined]],
    [
      'is the smallest of the tiers and overrides that share the count',
      {
        tiers: { attribute: 'plan', limits: { free: '5/min', pro: '1000/min' } },
        overrides: [{ when: { user: 'a' }, limit: '2/min' }],
      },
      [2, 2, 2, undefined],
    ],
    [
      'leaves out other windows and algorithms, and quotas of 0',
      {
        tiers: {
          attribute: 'plan',
          limits: { a: '5/h', b: { quota: 4, window: '1m', algorithm: 'gcra' }, c: '0/min' },
        },
      },
      [undefined, undefined, undefined, 100],
    ],
  ])('%s', (_, fields, expected) => {
    expect(slowestOf(fields)).toEqual(expected)
  })
})

describe('spaces', () => {
  const space = spaceOf({})

  it('begin with the number of the format', () => {
    expect(space).toBe('1:13:api8:per-user12:token-bucket5:600004:user')
  })

  it.each<[string, Partial<Rule>]>([
    ['quota', { limit: '200/min' }],
    ['burst', { limit: { quota: 100, window: '1m', burst: 5 } }],
    ['condition', { when: { user: 'present' } }],
    ['way to write the limit', { limit: { quota: 100, window: '60s' } }],
    ['cost', { cost: 5 }],
  ])('stay when another %s is set', (_, fields) => {
    expect(spaceOf(fields)).toBe(space)
  })

  it.each<[string, Partial<Rule>]>([
    ['window', { limit: '100/h' }],
    ['algorithm', { limit: { quota: 100, window: '1m', algorithm: 'gcra' } }],
    ['name', { name: 'other' }],
    ['list of attributes', { by: ['user', 'ip'] }],
    ['attribute', { by: ['ip'] }],
  ])('begin afresh with another %s', (_, fields) => {
    expect(spaceOf(fields)).not.toBe(space)
  })

  it('differ between policies', () => {
    expect(spaceOf({}, 'web')).not.toBe(space)
  })

  it('are never shared by two different rules', () => {
    const unit = fc.constantFrom('1', '2', ':', 'a', '~')
    const text = fc.string({ unit, minLength: 1, maxLength: 6 })
    const places = fc.record({
      policy: text,
      name: text,
      by: fc.uniqueArray(text, { maxLength: 3 }),
      algorithm: fc.constantFrom(...ALGORITHMS),
      window: fc.constantFrom(1, 11, 111, 60_000),
    })
    const placed = ({
      policy,
      name,
      by,
      algorithm,
      window,
    }: typeof places extends fc.Arbitrary<infer T> ? T : never): string =>
      spaceOf({ name, by, limit: { quota: 1, window, algorithm } }, policy)
    fc.assert(
      fc.property(places, places, (one, other) => {
        expect(placed(one) === placed(other)).toBe(JSON.stringify(one) === JSON.stringify(other))
      }),
      { numRuns: 1000 },
    )
  })
})
