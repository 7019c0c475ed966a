import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { LIMIT_FIELDS } from '../src/limit/limit.ts'
import { OVERRIDE_FIELDS, POLICY_FIELDS, RULE_FIELDS, TIERS_FIELDS } from '../src/policy/fields.ts'
import { tryParsePolicy } from '../src/policy/parse.ts'
import { policySchema } from './policy-schema.ts'

const file = new URL('../../../spec/policy.schema.json', import.meta.url)
const schema = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, object>>
const accepts = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema)

const rule = { name: 'r', by: ['user'], limit: '100/min' }
const of = (fields: object): object => ({ name: 'api', rules: [{ ...rule, ...fields }] })
const limit = (fields: object): object => of({ limit: { quota: 10, window: '1m', ...fields } })
const when = (pattern: unknown): object => of({ when: { plan: pattern } })
const ip = (pattern: unknown): object => of({ when: { ip: pattern } })
const tiers = (fields: object): object => of({ tiers: { attribute: 'plan', ...fields } })
const override = (fields: object): object => of({ overrides: [{ when: { a: 'b' }, ...fields }] })

const answers = (input: unknown): { schema: boolean; parser: boolean } => {
  // A policy file holds JSON, so both are tested with JSON.
  const json: unknown = JSON.parse(JSON.stringify(input))
  return { schema: accepts(json), parser: tryParsePolicy(json).policy !== undefined }
}

describe('the schema of policies', () => {
  it('is written to spec/policy.schema.json', () => {
    expect(schema, 'run npm run generate').toEqual(policySchema())
  })

  it('knows the fields that the parser knows', () => {
    const defs = schema['$defs'] as Record<string, { properties: object }>
    expect(Object.keys(schema['properties']!)).toEqual(POLICY_FIELDS)
    expect(Object.keys(defs['rule']!.properties)).toEqual(RULE_FIELDS)
    expect(Object.keys(defs['tiers']!.properties)).toEqual(TIERS_FIELDS)
    expect(Object.keys(defs['override']!.properties)).toEqual(OVERRIDE_FIELDS)
    expect(Object.keys(defs['limitFields']!.properties)).toEqual(LIMIT_FIELDS)
  })

  it.each([
    of({}),
    { name: 'two rules', rules: [rule, { ...rule, name: 'other' }] },
    of({ name: 'x'.repeat(128) }),
    of({ name: ' !"~' }),
    of({ by: [] }),
    of({ by: ['user', 'é', '__proto__'] }),
    of({ by: ['😀'.repeat(128)] }),
    of({ limit: '0/s' }),
    of({ limit: ' 1_000 / 10s ' }),
    of({ limit: '5/010min' }),
    limit({}),
    limit({ window: 1 }),
    limit({ window: 'day' }),
    limit({ window: '40d', burst: 1 }),
    limit({ quota: 0 }),
    limit({ quota: 0, burst: 0 }),
    limit({ quota: 1e3, burst: 2e3, algorithm: 'gcra' }),
    limit({ quota: 10_000, algorithm: 'sliding-log' }),
    limit({ quota: 10_001, algorithm: 'sliding-log', stamps: 32 }),
    limit({ quota: 10_001, algorithm: 'sliding-window' }),
    limit({ burst: 10, algorithm: 'fixed-window' }),
    of({ limit: '100/minute' }),
    of({ limit: '100/15minutes' }),
    of({ when: {} }),
    when('present'),
    when('absent'),
    when('a string'),
    when('/api/*'),
    when('*'),
    when(5),
    when(-0.5),
    when(false),
    when(['a', 5, true, { equals: 'x*y' }, { network: '10.0.0.0/8' }]),
    when({ equals: 'absent' }),
    when({ network: '::1' }),
    ip('10.0.0.0/8'),
    ip('2001:DB8::/32'),
    ip('::ffff:1.2.3.4'),
    ip(['10.*', 'absent', { equals: 'unix' }]),
    tiers({ limits: { free: '1/s', pro: { quota: 1, window: 1 }, staff: 'unlimited' } }),
    of({ overrides: [] }),
    override({ limit: 'unlimited' }),
    override({ limit: '1/s' }),
    of({ cost: 0 }),
    of({ cost: 'units' }),
    of({ shadow: true, countRefused: false, hidden: true }),
    of({ onStoreFailure: 'local' }),
    of({ onStoreFailure: 'closed' }),
    of({ coordination: 'leased' }),
    of({ coordination: 'synced' }),
    of({ coordination: 'local' }),
  ])('and the parser accept %j', (input) => {
    expect(answers(input)).toEqual({ schema: true, parser: true })
  })

  it.each([
    null,
    [],
    'policy',
    {},
    { name: 'x' },
    { rules: [rule] },
    { name: 'x', rules: [] },
    { name: 'x', rules: rule },
    { name: 'x', rules: [null] },
    { name: '', rules: [rule] },
    { name: 5, rules: [rule] },
    { name: 'é', rules: [rule] },
    { name: 'x', rules: [rule], more: 1 },
    of({ name: '' }),
    of({ name: 'a\n' }),
    of({ name: 'x'.repeat(129) }),
    of({ bye: [] }),
    of({ by: 'user' }),
    of({ by: [''] }),
    of({ by: [5] }),
    of({ by: ['a', 'a'] }),
    of({ by: ['x'.repeat(129)] }),
    of({ limit: 100 }),
    of({ limit: null }),
    of({ limit: '100' }),
    of({ limit: '100/' }),
    of({ limit: '-1/s' }),
    of({ limit: '1.5/s' }),
    of({ limit: '_/s' }),
    of({ limit: '1/0s' }),
    of({ limit: '1/S' }),
    of({ limit: '1/mins' }),
    of({ limit: '1/00000000000000001s' }),
    of({ limit: '1/fortnight' }),
    of({ limit: 'unlimited' }),
    of({ limit: { quota: 1 } }),
    of({ limit: { window: 1 } }),
    limit({ quota: -1 }),
    limit({ quota: 1.5 }),
    limit({ quota: '1' }),
    limit({ quota: 2 ** 53 }),
    limit({ window: 0 }),
    limit({ window: 1.5 }),
    limit({ window: '10' }),
    limit({ window: '1 h' }),
    limit({ burst: 0 }),
    limit({ burst: null }),
    limit({ burst: 1.5 }),
    limit({ quota: 0, burst: 1 }),
    limit({ algorithm: 'leaky' }),
    limit({ algorithm: null }),
    limit({ quota: 10_001, algorithm: 'sliding-log' }),
    limit({ algorithm: 'sliding-log', stamps: 0 }),
    limit({ algorithm: 'sliding-log', stamps: 1001 }),
    limit({ rate: '1/s' }),
    of({ when: [] }),
    of({ when: null }),
    of({ when: { '': 'x' } }),
    when(''),
    when(null),
    when([]),
    when([['a']]),
    when('*a'),
    when('a**'),
    when({}),
    when({ equals: '' }),
    when({ equals: null }),
    when({ equals: 'a', network: '::1' }),
    when({ network: 5 }),
    when({ network: 'here' }),
    ip('localhost'),
    ip('10.0.0.0/8 '),
    ip(['10.0.0.0/8', 'home']),
    tiers({}),
    tiers({ limits: {} }),
    tiers({ limits: { '': '1/s' } }),
    tiers({ limits: { a: 'none' } }),
    of({ tiers: { limits: { a: '1/s' } } }),
    tiers({ attribute: '', limits: { a: '1/s' } }),
    of({ overrides: {} }),
    override({}),
    override({ when: {}, limit: '1/s' }),
    of({ overrides: [{ limit: '1/s' }] }),
    override({ limit: '1/s', name: 'x' }),
    of({ cost: -1 }),
    of({ cost: 0.5 }),
    of({ cost: '' }),
    of({ cost: null }),
    of({ shadow: 'true' }),
    of({ countRefused: 1 }),
    of({ hidden: null }),
    of({ onStoreFailure: 'panic' }),
    of({ coordination: 'eventual' }),
  ])('and the parser refuse %j', (input) => {
    expect(answers(input)).toEqual({ schema: false, parser: false })
  })

  it.each<[what: string, input: object]>([
    ['names that repeat', { name: 'x', rules: [rule, rule] }],
    ['addresses that are none', ip('10.0.0.256')],
    ['prefixes that are too long', when({ network: '10.0.0.0/33' })],
    ['a burst beside a window', limit({ algorithm: 'fixed-window', burst: 11 })],
    ['units and windows too large together', limit({ quota: 2 ** 52, window: 2 })],
    ['rates too large', of({ limit: '99999999999999999999/s' })],
    ['windows too long', limit({ window: '9007199254740991w' })],
  ])('leaves %s to the parser', (_, input) => {
    expect(answers(input)).toEqual({ schema: true, parser: false })
  })
})
