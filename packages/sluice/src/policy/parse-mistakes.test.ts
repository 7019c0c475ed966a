import { describe, expect, it } from 'vitest'
import { tryParsePolicy } from './parse.ts'

const rule = { name: 'per-user', by: ['user'], limit: '100/min' }
const NAME = 'accepted: 1 to 128 printable ASCII characters, since names travel in HTTP headers'
const LIMIT =
  "accepted: a string such as '100/min', '5/10s', '1000/1h', or { quota, window, algorithm, burst, anchor, calendar, timeZone, startsOn, stamps }"
const RULES = 'accepted: a list of at least one rule'
const PATTERN = "accepted: 'present', 'absent', a string, a string that ends in *,"
const inRule = (fields: object): object => ({ name: 'api', rules: [{ ...rule, ...fields }] })

/** The mistakes in the input, each cut to the length of the sentence that is expected. */
function mistakes(input: unknown, sentence: string): string[] {
  return tryParsePolicy(input).problems.map(({ path, message }) => {
    expect(message.startsWith(path === '' ? 'policy ' : `${path} `)).toBe(true)
    return message.slice(0, sentence.length)
  })
}

describe('a policy', () => {
  it.each<[unknown, string]>([
    [undefined, 'policy is missing; accepted: an object with name and rules'],
    [null, 'policy is null; accepted: an object'],
    ['x', 'policy is "x"; accepted: an object'],
    [[], 'policy is []; accepted: an object'],
    [() => 1, 'policy is function; accepted: an object'],
    [{ rules: [rule] }, `name is missing; ${NAME}`],
    [{ name: '', rules: [rule] }, `name is ""; ${NAME}`],
    [{ name: 5, rules: [rule] }, `name is 5; ${NAME}`],
    [{ name: 'x'.repeat(129), rules: [rule] }, `name is "${'x'.repeat(57)}..."; ${NAME}`],
    [{ name: 'é', rules: [rule] }, `name is "é"; ${NAME}`],
    [{ name: 'a\nb', rules: [rule] }, `name is "a\\nb"; ${NAME}`],
    [{ name: 'a\x7f', rules: [rule] }, 'name is '],
    [{ name: 'x' }, `rules is missing; ${RULES}`],
    [{ name: 'x', rules: [] }, `rules is []; ${RULES}`],
    [{ name: 'x', rules: { a: 1 } }, `rules is {"a":1}; ${RULES}`],
    [{ name: 'x', rules: [1] }, 'rules[0] is 1; accepted: a rule with name, by and limit'],
    [{ name: 'x', rules: [rule, undefined] }, 'rules[1] is missing; accepted: a rule'],
    [{ name: 'x', rules: [rule], v: 1 }, 'v is not a known field; accepted: name, rules'],
    [{ name: 'x', rules: [rule], Name: 1 }, 'Name is not a known field; did you mean name?'],
    [
      { name: 'x', rules: [rule, rule] },
      'rules[1].name is "per-user", the name of rules[0]; accepted: a name of its own',
    ],
  ])('is refused: %o', (input, sentence) => {
    expect(mistakes(input, sentence)).toEqual([sentence])
  })
})

describe('a rule', () => {
  it.each<[object, string]>([
    [{ name: undefined }, `name is missing; ${NAME}`],
    [{ limt: '1/s' }, 'limt is not a known field; did you mean limit?'],
    [
      { onstorefailure: 'open' },
      'onstorefailure is not a known field; did you mean onStoreFailure?',
    ],
    [
      { coordination: 'eventual' },
      'coordination is "eventual"; accepted: strict, leased, synced, local',
    ],
    [
      { coordination: 'synced', limit: { quota: 1, window: '1s', algorithm: 'sliding-log' } },
      'coordination is "synced", but sliding-log cannot be synced; accepted: strict, auto, or another algorithm',
    ],
    [
      { coordination: 'leased', limit: { quota: 1, window: '1s', algorithm: 'leaky-bucket' } },
      'coordination is "leased", but leaky-bucket cannot be leased; accepted: strict, auto, or another algorithm',
    ],
    [
      { coordination: 'leased', countRefused: true },
      'coordination is "leased", but a refusal that is charged needs a round trip; accepted: strict, or no countRefused',
    ],
    ...['leased', 'auto', 'synced', 'local'].map((coordination): [object, string] => [
      { coordination, candidate: '2/s' },
      `coordination is "${coordination}", but a candidate is decided by the store with every request; accepted: strict`,
    ]),
    [{ by: undefined }, 'by is missing; accepted: a list of attribute names; [] is one count for'],
    [{ by: 'user' }, 'by is "user"; accepted: a list of attribute names'],
    [{ by: [''] }, 'by[0] is ""; accepted: the name of an attribute, 1 to 128 characters'],
    [{ by: ['x'.repeat(129)] }, 'by[0] is "xxx'],
    [{ by: ['😀'.repeat(129)] }, 'by[0] is "😀'],
    [{ by: [5] }, 'by[0] is 5; accepted: the name of an attribute'],
    [{ by: ['a', 'b', 'a'] }, 'by[2] is "a" once more; accepted: each attribute once'],
    [{ cost: -1 }, 'cost is -1; accepted: a whole number of units, 0 or more, or the name of an'],
    [{ cost: 0.5 }, 'cost is 0.5; accepted'],
    [{ cost: '' }, 'cost is ""; accepted: a whole number'],
    [{ cost: 2 ** 53 }, 'cost is 9007199254740992; accepted'],
    [{ shadow: 'yes' }, 'shadow is "yes"; accepted: true or false'],
    [{ countRefused: 1 }, 'countRefused is 1; accepted: true or false'],
    [{ hidden: null }, 'hidden is null; accepted: true or false'],
    [{ onStoreFailure: 'panic' }, 'onStoreFailure is "panic"; accepted: local, open, closed'],
  ])('is refused: %o', (fields, end) => {
    const sentence = `rules[0].${end}`
    expect(mistakes(inRule(fields), sentence)).toEqual([sentence])
  })
})

describe('a limit', () => {
  const of = (fields: object): object => ({ limit: { quota: 1, window: 1, ...fields } })

  it.each<[object, string]>([
    [{ limit: undefined }, `limit is missing; ${LIMIT}`],
    [{ limit: 100 }, `limit is 100; ${LIMIT}`],
    [{ limit: ['100/min'] }, `limit is ["100/min"]; ${LIMIT}`],
    [{ limit: 'fast' }, 'limit is "fast"; accepted: a string such as \'100/min\''],
    [{ limit: 'unlimited' }, 'limit is "unlimited"; accepted: a string such as'],
    [
      { limit: '1/parsec' },
      'limit is "1/parsec": window is "parsec"; accepted: whole milliseconds',
    ],
    [{ limit: '-1/s' }, 'limit is "-1/s": quota is "-1"; accepted: a whole number of units'],
    [{ limit: { quota: 1 } }, 'limit.window is missing; accepted: whole milliseconds'],
    [of({ quota: -1 }), 'limit.quota is -1; accepted: a whole number of units, 0 or more'],
    [of({ window: 0 }), 'limit.window is 0; accepted: whole milliseconds above 0'],
    [of({ burst: 0 }), 'limit.burst is 0; accepted: a whole number of units, 1 or more'],
    [of({ algorithm: 'x' }), 'limit.algorithm is "x"; accepted: token-bucket'],
    [of({ brust: 2 }), 'limit.brust is not a known field; did you mean burst?'],
    [of({ rate: '1/s' }), 'limit.rate is not a known field; accepted: quota, window, algorithm'],
    [of({ quota: 2 ** 52, window: 2 }), 'limit.quota is 4503599627370496, which times a window'],
  ])('is refused: %o', (fields, end) => {
    const sentence = `rules[0].${end}`
    expect(mistakes(inRule(fields), sentence)).toEqual([sentence])
  })
})

describe('a condition', () => {
  it.each<[unknown, string]>([
    [[], ' is []; accepted: a table of attributes and what each must be'],
    [null, ' is null; accepted: a table of attributes'],
    [{ '': 'x' }, '[""] is ""; accepted: the name of an attribute'],
    [{ user: undefined }, `.user is missing; ${PATTERN}`],
    [{ user: null }, `.user is null; ${PATTERN}`],
    [{ user: [] }, '.user is []; accepted: a list of at least one pattern'],
    [{ user: [['a']] }, `.user[0] is ["a"]; ${PATTERN}`],
    [{ user: { like: 'a' } }, `.user is {"like":"a"}; ${PATTERN}`],
    [{ user: '*a' }, '.user is "*a"; accepted: a * at the end only'],
    [{ 'x-plan': '' }, '["x-plan"] is ""; accepted: a string that is not empty'],
    [{ ip: ['10.0.0.0/8', '10/8'] }, '.ip[1] is "10/8"; accepted: a network such as 10.0.0.0/8'],
    [{ peer: { network: '::/129' } }, '.peer is {"network":"::/129"}; accepted: a network such as'],
  ])('is refused: %o', (when, end) => {
    const sentence = `rules[0].when${end}`
    expect(mistakes(inRule({ when }), sentence)).toEqual([sentence])
  })
})

describe('tiers and overrides', () => {
  const tiers = (fields: object): object => ({ tiers: { attribute: 'plan', ...fields } })
  const override = (fields: object): object => ({ overrides: [{ when: { a: 'b' }, ...fields }] })

  it.each<[object, string]>([
    [{ tiers: [] }, 'tiers is []; accepted: an object with attribute and limits'],
    [tiers({ attribute: undefined, limits: { a: '1/s' } }), 'tiers.attribute is missing; accepted'],
    [tiers({}), 'tiers.limits is missing; accepted: a table of at least one limit'],
    [tiers({ limits: {} }), 'tiers.limits is {}; accepted: a table of at least one limit'],
    [tiers({ limits: { '': '1/s' } }), 'tiers.limits[""] has no value; accepted: a string'],
    [
      tiers({ limits: { a: 'x' } }),
      "tiers.limits.a is \"x\"; accepted: a string such as '100/min', '5/10s', '1000/1h', 'unlimited'",
    ],
    [
      tiers({ limits: { a: '1/s' }, limit: 1 }),
      'tiers.limit is not a known field; did you mean limits?',
    ],
    [{ overrides: {} }, 'overrides is {}; accepted: a list of overrides, each with when and limit'],
    [{ overrides: [1] }, 'overrides[0] is 1; accepted: an override with when and limit'],
    [
      override({ when: undefined, limit: '1/s' }),
      'overrides[0].when is missing; accepted: a table',
    ],
    [override({ when: {}, limit: '1/s' }), 'overrides[0].when is {}; accepted: a condition on at'],
    [
      override({}),
      "overrides[0].limit is missing; accepted: a string such as '100/min', '5/10s', '1000/1h', 'unlimited', or {",
    ],
    [
      override({ limit: '1/s', wen: 1 }),
      'overrides[0].wen is not a known field; did you mean when?',
    ],
  ])('are refused: %o', (fields, end) => {
    const sentence = `rules[0].${end}`
    expect(mistakes(inRule(fields), sentence)).toEqual([sentence])
  })
})
