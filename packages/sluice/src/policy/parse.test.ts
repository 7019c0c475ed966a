import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SluiceError } from '../errors.ts'
import { parsePolicy, tryParsePolicy } from './parse.ts'

const rule = { name: 'per-user', by: ['user'], limit: '100/min' }
const full = { algorithm: 'token-bucket', quota: 100, window: 60_000, burst: 100 }
const withRule = (fields: object): object => ({ name: 'api', rules: [{ ...rule, ...fields }] })
const messages = (input: unknown): string[] =>
  tryParsePolicy(input).problems.map(({ message }) => message)

function errorOf(input: unknown): SluiceError {
  try {
    parsePolicy(input)
  } catch (error) {
    if (error instanceof SluiceError) return error
    throw error
  }
  throw new Error('the policy was accepted')
}

describe('parsePolicy', () => {
  it('writes every limit in full and leaves out what was not said', () => {
    expect(
      parsePolicy({
        name: 'api',
        rules: [
          {
            name: 'per-user',
            when: { user: 'present', plan: ['free', { equals: 'trial' }] },
            by: ['user'],
            limit: '100/min',
            tiers: {
              attribute: 'plan',
              limits: {
                pro: '10/1s',
                log: { quota: 5, window: '1h', algorithm: 'sliding-log' },
                staff: 'unlimited',
              },
            },
            overrides: [
              { when: { ip: '10.0.0.0/8' }, limit: { quota: 100, window: 60_000, burst: 7 } },
            ],
            cost: 'units',
            shadow: false,
            onStoreFailure: 'open',
            countRefused: true,
            hidden: undefined,
          },
          { name: 'everyone', by: [], limit: full },
        ],
      }),
    ).toStrictEqual({
      name: 'api',
      rules: [
        {
          name: 'per-user',
          when: { user: 'present', plan: ['free', { equals: 'trial' }] },
          by: ['user'],
          limit: full,
          tiers: {
            attribute: 'plan',
            limits: {
              pro: { ...full, quota: 10, burst: 10, window: 1000 },
              log: { algorithm: 'sliding-log', quota: 5, burst: 5, window: 3_600_000 },
              staff: 'unlimited',
            },
          },
          overrides: [{ when: { ip: '10.0.0.0/8' }, limit: { ...full, burst: 7 } }],
          cost: 'units',
          shadow: false,
          onStoreFailure: 'open',
          countRefused: true,
        },
        { name: 'everyone', by: [], limit: full },
      ],
    })
  })

  it('freezes all of it and shares nothing with what was given', () => {
    const given = {
      name: 'api',
      rules: [
        {
          ...rule,
          when: { plan: ['a', { equals: 'b' }] },
          tiers: { attribute: 'plan', limits: { a: { ...full } } },
          overrides: [{ when: { user: { equals: 'x' } }, limit: { ...full } }],
        },
      ],
    }
    const policy = parsePolicy(given)
    const mine = new Set<object>(objectsIn(given))
    const theirs = objectsIn(policy)
    expect(theirs.length).toBeGreaterThan(12)
    expect(theirs.filter((object) => !Object.isFrozen(object))).toEqual([])
    expect(theirs.filter((object) => mine.has(object))).toEqual([])
  })

  it('throws one error for all mistakes, in the order of the policy', () => {
    const error = errorOf({
      name: '',
      rules: [
        { name: 'a', by: ['x'], limit: { quota: -1, window: 'x', burst: 0 } },
        { name: 'a', by: 'x', limit: '100/fortnight' },
      ],
    })
    expect(error).toMatchObject({ name: 'SluiceError', code: 'invalid-policy', transient: false })
    expect(error.problems.map(({ path, value }) => [path, value])).toEqual([
      ['name', ''],
      ['rules[0].limit.quota', -1],
      ['rules[0].limit.window', 'x'],
      ['rules[0].limit.burst', 0],
      ['rules[1].name', 'a'],
      ['rules[1].by', 'x'],
      ['rules[1].limit', '100/fortnight'],
    ])
    expect(error.message).toBe(
      ['the policy has 7 mistakes:', ...error.problems.map((p) => `- ${p.message}`)].join('\n'),
    )
    expect(errorOf(withRule({ by: 1 })).message).toMatch(
      /^the policy has 1 mistake:\n- rules\[0\]\.by is 1; /,
    )
  })

  it('accepts a tier that counts by another algorithm or window', () => {
    const limits = { pro: { quota: 5, window: '1h', algorithm: 'sliding-log' } }
    expect(messages(withRule({ tiers: { attribute: 'plan', limits } }))).toEqual([])
  })

  it('reports each mistake once', () => {
    const nameless = { by: ['', ''], limit: '1/s' }
    expect(tryParsePolicy({ name: 'x', rules: [nameless, nameless] }).problems).toMatchObject(
      [0, 1]
        .flatMap((i) => [`rules[${i}].name`, `rules[${i}].by[0]`, `rules[${i}].by[1]`])
        .map((path) => ({ path })),
    )
  })

  it('reads lists and tables of 10,000 entries, and not one more', () => {
    const names = Array.from({ length: 10_001 }, (_, i) => `a${i}`)
    const table = (count: number): object =>
      Object.fromEntries(names.slice(0, count).map((name) => [name, 'present']))
    expect(messages(withRule({ by: names.slice(1), when: table(10_000) }))).toEqual([])
    expect(messages(withRule({ by: names, when: table(10_001) }))).toEqual([
      'rules[0].when has 10001 entries; accepted: at most 10000',
      'rules[0].by has 10001 entries; accepted: at most 10000',
    ])
  })

  it('gives the same for its own answer', () => {
    const patterns = fc.oneof(
      fc.constantFrom('present', 'absent', '*', 'a*', 'x', 5, true),
      fc.constant({ equals: 'a*' }),
      fc.constant({ network: '10.0.0.0/8' }),
    )
    const names = fc.string({
      unit: fc.constantFrom('a', 'b', ' ', '~', '"'),
      minLength: 1,
      maxLength: 9,
    })
    const limits = fc.constantFrom('100/min', '0/s', { quota: 5, window: '1h', burst: 9 }, full)
    const rules = fc.record(
      {
        name: names,
        by: fc.uniqueArray(fc.constantFrom('user', 'ip', '__proto__', 'é'), { maxLength: 3 }),
        limit: limits,
        when: fc.dictionary(names, fc.oneof(patterns, fc.array(patterns, { minLength: 1 }))),
        tiers: fc.record({
          attribute: names,
          limits: fc.dictionary(names, limits, { minKeys: 1 }),
        }),
        cost: fc.oneof(fc.nat(), names),
        shadow: fc.boolean(),
      },
      { requiredKeys: ['name', 'by', 'limit'] },
    )
    const policies = fc.record({
      name: names,
      rules: fc.uniqueArray(rules, { minLength: 1, maxLength: 4, selector: ({ name }) => name }),
    })
    fc.assert(
      fc.property(policies, (input) => {
        const policy = parsePolicy(input)
        expect(parsePolicy(policy)).toEqual(policy)
        expect(parsePolicy(JSON.parse(JSON.stringify(policy)))).toEqual(policy)
      }),
    )
  })
})

/** Every object within, each once. */
function objectsIn(value: unknown, seen: object[] = []): object[] {
  if (typeof value !== 'object' || value === null || seen.includes(value)) return seen
  seen.push(value)
  for (const member of Object.values(value)) objectsIn(member, seen)
  return seen
}
