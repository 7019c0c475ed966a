import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePolicy, tryParsePolicy } from './parse.ts'

const rule = { name: 'per-user', by: ['user'], limit: '100/min' }
const withRule = (fields: object): object => ({ name: 'api', rules: [{ ...rule, ...fields }] })

describe('hostile policies', () => {
  const throwing = (name: string): object =>
    Object.defineProperty({}, name, {
      enumerable: true,
      get: () => {
        throw new TypeError('trap')
      },
    })
  const revoked = (): unknown => {
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    return proxy
  }
  const cyclic: Record<string, unknown> = { name: 'x' }
  cyclic['rules'] = [cyclic]
  cyclic['when'] = cyclic
  let bomb: unknown = 'x'
  for (let i = 0; i < 60; i++) bomb = [bomb, bomb]

  it.each<[string, () => unknown]>([
    ['a getter that throws', () => throwing('name')],
    ['a getter that throws in a rule', () => ({ name: 'x', rules: [throwing('limit')] })],
    ['a getter that throws in a limit', () => withRule({ limit: throwing('quota') })],
    ['a getter that throws in a pattern', () => withRule({ when: { a: throwing('equals') } })],
    [
      'a getter that throws in a tier',
      () => withRule({ tiers: { attribute: 'a', limits: throwing('b') } }),
    ],
    [
      'a list whose entry throws',
      () => ({
        name: 'x',
        rules: Object.defineProperty([], 0, {
          get: () => {
            throw new Error('trap')
          },
        }),
      }),
    ],
    ['a revoked proxy', revoked],
    ['a revoked proxy as rules', () => ({ name: 'x', rules: revoked() })],
    ['a revoked proxy as pattern', () => withRule({ when: { a: revoked() } })],
    ['a revoked proxy in a list of patterns', () => withRule({ when: { a: [revoked()] } })],
    [
      'a list of patterns whose inner list throws',
      () =>
        withRule({
          when: {
            a: [
              new Proxy([], {
                ownKeys: () => {
                  throw new Error('trap')
                },
              }),
            ],
          },
        }),
    ],
    ['a cycle', () => cyclic],
    ['a list that doubles sixty times', () => withRule({ by: bomb, when: { a: bomb } })],
    [
      'a value whose JSON throws',
      () =>
        withRule({
          limit: {
            quota: {
              toJSON: () => {
                throw new Error('trap')
              },
            },
            window: 1n,
          },
        }),
    ],
    ['symbols', () => withRule({ by: [Symbol('a')], cost: Symbol('b') })],
    [
      'a proxy with a length of its own',
      () => withRule({ by: new Proxy([], { get: () => Symbol('length') }) }),
    ],
    ['an own __proto__', () => JSON.parse('{ "__proto__": { "name": "x" }, "rules": [] }')],
    ['fields that are only inherited', () => Object.create({ name: 'x', rules: [rule] })],
  ])('are refused like any other: %s', (_, make) => {
    const { problems } = tryParsePolicy(make())
    expect(problems.length).toBeGreaterThan(0)
    for (const problem of problems) expect(problem.message).toMatch(/(accepted|did you mean)/)
  })

  it('are refused for their length before they are read', () => {
    const endless: unknown[] = []
    endless.length = 2 ** 32 - 1
    expect(tryParsePolicy({ name: 'x', rules: endless }).problems).toMatchObject([
      { path: 'rules', message: 'rules has 4294967295 entries; accepted: at most 10000' },
    ])
  })

  it('are reported once when a getter throws', () => {
    const when = { a: throwing('equals'), b: [revoked()] }
    expect(tryParsePolicy(withRule({ when })).problems.map(({ message }) => message)).toEqual([
      'rules[0].when.a throws when it is read; accepted: plain data',
      'rules[0].when.b[0] throws when it is read; accepted: plain data',
    ])
  })

  it('keep __proto__ as a name like any other', () => {
    const policy = parsePolicy(
      JSON.parse(
        '{ "name": "x", "rules": [{ "name": "__proto__", "by": ["__proto__"], "limit": "1/s", "when": { "__proto__": "a" }, "tiers": { "attribute": "plan", "limits": { "__proto__": "2/s" } } }] }',
      ),
    )
    expect(JSON.parse(JSON.stringify(policy.rules[0]))).toMatchObject({ name: '__proto__' })
    expect(Object.keys(policy.rules[0]!.when!)).toEqual(['__proto__'])
    expect(Object.keys(policy.rules[0]!.tiers!.limits)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(policy.rules[0]!.when)).toBe(Object.prototype)
  })

  it('never make the parser throw anything else', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withNullPrototype: true,
          withSparseArray: true,
          withObjectString: true,
        }),
        (value) => {
          for (const input of [
            value,
            { name: 'x', rules: value },
            { name: 'x', rules: [value] },
            withRule({
              when: value,
              by: value,
              limit: value,
              tiers: value,
              overrides: [value],
              cost: value,
            }),
          ]) {
            const { policy, problems } = tryParsePolicy(input)
            expect(policy === undefined).toBe(problems.length > 0)
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})
