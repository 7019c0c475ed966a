import { parseDictionary, parseItem, parseList } from 'structured-headers'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ALGORITHMS, limit, type Limit } from '../../limit/limit.ts'
import type { FieldAccess, ReportedLimit } from './dialect.ts'
import { DIALECT_NAMES, dialectOf, dialectsOf, headerFields, type DialectName } from './dialects.ts'
import { stringItem, windowOf } from './structured.ts'

type Fields = Map<string, string>
const access: FieldAccess<Fields> = {
  get: (fields: Fields, name: string) => fields.get(name),
  set: (fields: Fields, name: string, value: string) => void fields.set(name, value),
}

const outcomeOf = (changes: Partial<ReportedLimit> = {}): ReportedLimit => ({
  rule: 'api',
  limit: limit('100/min'),
  allowed: true,
  remaining: 42,
  retryAfter: 0,
  resetAfter: 34_001,
  availableAfter: 599,
  ...changes,
})
const refused = outcomeOf({ allowed: false, remaining: 0, retryAfter: 2500, availableAfter: 500 })
const hourly = outcomeOf({
  rule: 'hourly',
  limit: limit('1000/h'),
  remaining: 7,
  resetAfter: 3_500_000,
  availableAfter: 3000,
})

const slots = outcomeOf({
  rule: 'at-once',
  limit: { algorithm: 'fixed-window', quota: 2, window: 30_000, burst: 2, slots: true },
  remaining: 1,
})

// What a process knows of a count of which it has spent its lease.
const leased = outcomeOf({
  rule: 'leased',
  limit: limit('1000/s'),
  source: 'lease',
  remaining: 0,
  resetAfter: 20_001,
  availableAfter: 20_001,
})

function written(
  name: DialectName,
  outcomes: readonly ReportedLimit[],
  before: Readonly<Record<string, string>> = {},
  partitionKey: ((outcome: ReportedLimit) => string | undefined) | null = null,
): Record<string, string> {
  const fields: Fields = new Map(Object.entries(before))
  dialectOf(name).write(access, fields, outcomes, partitionKey)
  return Object.fromEntries(fields)
}

afterEach(() => vi.useRealTimers())

describe('dialects', () => {
  it.each<[DialectName, readonly ReportedLimit[], Record<string, string>]>([
    [
      'structured',
      [outcomeOf()],
      { 'RateLimit-Policy': '"api";q=100;w=60', RateLimit: '"api";r=42;t=1' },
    ],
    [
      'structured',
      [outcomeOf(), hourly],
      {
        'RateLimit-Policy': '"api";q=100;w=60, "hourly";q=1000;w=3600',
        RateLimit: '"api";r=42;t=1, "hourly";r=7;t=3',
      },
    ],
    [
      'structured',
      [slots, outcomeOf()],
      {
        'RateLimit-Policy': '"at-once";q=2;qu="concurrent-requests", "api";q=100;w=60',
        RateLimit: '"at-once";r=1, "api";r=42;t=1',
      },
    ],
    [
      'draft-7',
      [slots, outcomeOf()],
      { 'RateLimit-Policy': '100;w=60', RateLimit: 'limit=100, remaining=42, reset=35' },
    ],
    ['draft-7', [slots], {}],
    ['x-ratelimit-delta', [slots], {}],
    [
      'draft-7',
      [outcomeOf(), hourly],
      {
        'RateLimit-Policy': '100;w=60, 1000;w=3600',
        RateLimit: 'limit=1000, remaining=7, reset=3500',
      },
    ],
    [
      'draft-7',
      [refused],
      { 'RateLimit-Policy': '100;w=60', RateLimit: 'limit=100, remaining=0, reset=3' },
    ],
    [
      'draft-6',
      [outcomeOf(), hourly],
      {
        'RateLimit-Limit': '1000',
        'RateLimit-Remaining': '7',
        'RateLimit-Reset': '3500',
        'RateLimit-Policy': '100;w=60, 1000;w=3600',
      },
    ],
    [
      'draft-3',
      [refused, hourly],
      {
        'RateLimit-Limit': '100, 100;w=60, 1000;w=3600',
        'RateLimit-Remaining': '0',
        'RateLimit-Reset': '3',
      },
    ],
    [
      'ratelimit-triple',
      [outcomeOf(), hourly],
      { 'RateLimit-Limit': '1000', 'RateLimit-Remaining': '7', 'RateLimit-Reset': '3500' },
    ],
    [
      'draft-8',
      [outcomeOf()],
      { 'RateLimit-Policy': '"api";q=100;w=60', RateLimit: '"api";r=42;t=1' },
    ],
    [
      'x-ratelimit-delta',
      [outcomeOf()],
      { 'X-RateLimit-Limit': '100', 'X-RateLimit-Remaining': '42', 'X-RateLimit-Reset': '35' },
    ],
    // 1,800,000,000.25 s and 2.5 s, rounded up.
    [
      'x-ratelimit-epoch',
      [refused],
      {
        'X-RateLimit-Limit': '100',
        'X-RateLimit-Remaining': '0',
        'X-RateLimit-Reset': '1800000003',
      },
    ],
  ])('%s', (name, outcomes, fields) => {
    vi.useFakeTimers({ now: 1_800_000_000_250 })
    expect(written(name, outcomes)).toEqual(fields)
  })

  it.each<[DialectName, readonly ReportedLimit[], Record<string, string>]>([
    ['structured', [leased], { 'RateLimit-Policy': '"leased";q=1000;w=1' }],
    [
      'structured',
      [leased, outcomeOf()],
      { 'RateLimit-Policy': '"leased";q=1000;w=1, "api";q=100;w=60', RateLimit: '"api";r=42;t=1' },
    ],
    ['draft-7', [leased], { 'RateLimit-Policy': '1000;w=1' }],
    [
      'draft-7',
      [leased, outcomeOf()],
      {
        'RateLimit-Policy': '1000;w=1, 100;w=60',
        RateLimit: 'limit=100, remaining=42, reset=35',
      },
    ],
    ['draft-6', [leased], { 'RateLimit-Limit': '1000', 'RateLimit-Policy': '1000;w=1' }],
    [
      'draft-6',
      [outcomeOf(), leased],
      {
        'RateLimit-Limit': '100',
        'RateLimit-Remaining': '42',
        'RateLimit-Reset': '35',
        'RateLimit-Policy': '100;w=60, 1000;w=1',
      },
    ],
    ['draft-3', [leased], { 'RateLimit-Limit': '1000, 1000;w=1' }],
    ['ratelimit-triple', [leased], { 'RateLimit-Limit': '1000' }],
    ['x-ratelimit-epoch', [leased], { 'X-RateLimit-Limit': '1000' }],
    [
      'x-ratelimit-delta',
      [leased, outcomeOf({ source: 'lease', remaining: 5 })],
      { 'X-RateLimit-Limit': '100' },
    ],
    [
      'x-ratelimit-delta',
      [leased, refused],
      { 'X-RateLimit-Limit': '100', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '3' },
    ],
  ])('%s tells nothing of what a lease has left', (name, outcomes, fields) => {
    expect(written(name, outcomes)).toEqual(fields)
  })

  it.each(DIALECT_NAMES)('%s tells what remains after a refusal, whatever its source', (name) => {
    const { retryAfter, remaining, allowed } = refused
    const both = (source: ReportedLimit['source']): Record<string, string> =>
      written(name, [{ ...leased, source, allowed, remaining, retryAfter }])
    expect(Object.keys(both('lease')).toSorted()).toEqual(dialectOf(name).fields.toSorted())
    expect(both('lease')).toEqual(both('store'))
  })

  it.each(DIALECT_NAMES)('%s keeps what others have written beside a lease', (name) => {
    const before = written(name, [outcomeOf()])
    const after = written(name, [leased], before)
    for (const [field, value] of Object.entries(before))
      expect(after[field]?.startsWith(value)).toBe(true)
    // Nor does a lease that was reported first hide what is told later.
    const told = written(name, [outcomeOf()], written(name, [leased]))
    expect(Object.keys(told).toSorted()).toEqual(dialectOf(name).fields.toSorted())
  })

  it('list a quota once in the drafts that allow no second policy of the same number', () => {
    const daily = outcomeOf({ rule: 'daily', limit: limit('100/d') })
    expect(written('draft-6', [outcomeOf(), daily])['RateLimit-Policy']).toBe('100;w=60')
  })

  it('show partition keys as byte sequences', () => {
    const { RateLimit } = written('structured', [outcomeOf(), hourly], {}, ({ rule }) =>
      rule === 'api' ? 'AbCd+/01' : undefined,
    )
    const [first, second] = parseList(RateLimit!)
    expect(first![1].get('pk')).toBeInstanceOf(ArrayBuffer)
    expect([...second![1].keys()]).toEqual(['r', 't'])
  })

  it('continue a list of policies without an item', () => {
    const policies = { 'RateLimit-Policy': '"leased";q=1000;w=1' }
    expect(written('structured', [leased])).toEqual(policies)
    expect(written('structured', [outcomeOf()], policies)).toEqual({
      'RateLimit-Policy': '"leased";q=1000;w=1, "api";q=100;w=60',
      RateLimit: '"api";r=42;t=1',
    })
  })

  it('continue the list that another handler has begun', () => {
    const upstream = { 'RateLimit-Policy': '"upstream";q=5;w=1', RateLimit: '"upstream";r=4;t=1' }
    expect(written('structured', [outcomeOf()], upstream)).toEqual({
      'RateLimit-Policy': '"upstream";q=5;w=1, "api";q=100;w=60',
      RateLimit: '"upstream";r=4;t=1, "api";r=42;t=1',
    })
  })

  it.each<[DialectName, Record<string, string>]>([
    ['draft-6', { 'RateLimit-Limit': '10', 'RateLimit-Remaining': '3', 'RateLimit-Reset': '1' }],
    [
      'x-ratelimit-epoch',
      { 'X-RateLimit-Limit': '10', 'X-RateLimit-Remaining': '3', 'X-RateLimit-Reset': '1' },
    ],
    ['draft-7', { RateLimit: 'limit=10, remaining=3, reset=1' }],
  ])('%s leaves what is stricter, and replaces what is not', (name, stricter) => {
    expect(written(name, [outcomeOf()], stricter)).toEqual(stricter)
    const looser = Object.fromEntries(
      Object.entries(stricter).map(([field, value]) => [field, value.replace('3', '99')]),
    )
    expect(written(name, [outcomeOf()], looser)).not.toMatchObject(looser)
  })

  it('remember items of each limit without mixing them up', () => {
    const dialect = dialectOf('structured')
    const texts = new Set<string>()
    for (let remaining = 0; remaining < 500; remaining++) {
      for (const availableAfter of [500, 1500, 500]) {
        const fields: Fields = new Map()
        dialect.write(access, fields, [outcomeOf({ remaining, availableAfter })], null)
        const [[, parameters]] = parseList(fields.get('RateLimit')!) as [
          [unknown, Map<string, unknown>],
        ]
        expect(parameters.get('r')).toBe(remaining)
        expect(parameters.get('t')).toBe(Math.ceil(availableAfter / 1000))
        texts.add(fields.get('RateLimit')!)
      }
    }
    expect(texts.size).toBe(1000)
  })

  it.each(['structured', 'draft-7', 'draft-6', 'draft-3'] as const)(
    '%s is read back by an independent parser, whatever the limit',
    (name) => {
      const algorithm = fc.constantFrom(...ALGORITHMS)
      fc.assert(
        fc.property(
          algorithm,
          fc.integer({ min: 0, max: 10_000 }),
          fc.integer({ min: 1, max: 40_000_000 }),
          fc.nat(),
          fc.string(),
          (algorithm, quota, window, remaining, rule) => {
            const made = limit({ algorithm, quota, window })
            const outcome = outcomeOf({
              limit: made,
              rule,
              remaining,
              resetAfter: remaining * 7,
              availableAfter: remaining,
            })
            for (const [field, value] of Object.entries(written(name, [outcome]))) {
              const isDictionary = field === 'RateLimit' && name === 'draft-7'
              const members = isDictionary ? parseDictionary(value).size : parseList(value).length
              expect(members).toBe(
                isDictionary ? 3 : field === 'RateLimit-Limit' && name === 'draft-3' ? 2 : 1,
              )
            }
          },
        ),
      )
    },
  )
})

describe('the table', () => {
  it('gives every name fields of its own', () => {
    for (const name of DIALECT_NAMES) {
      const fields = headerFields([name])([outcomeOf()]).map(([field]) => field)
      expect(fields.toSorted()).toEqual(dialectOf(name).fields.toSorted())
    }
  })

  it('writes fields as a list for protocols without a response object', () => {
    const write = headerFields(['ratelimit-triple', 'x-ratelimit-delta'])
    expect(write([])).toEqual([])
    expect(write([refused])).toEqual([
      ['RateLimit-Limit', '100'],
      ['RateLimit-Remaining', '0'],
      ['RateLimit-Reset', '3'],
      ['X-RateLimit-Limit', '100'],
      ['X-RateLimit-Remaining', '0'],
      ['X-RateLimit-Reset', '3'],
    ])
  })

  it.each([
    [['structured', 'draft-7'], 'headers: structured and draft-7 both write RateLimit-Policy'],
    [['draft-6', 'ratelimit-triple'], 'headers: draft-6 and ratelimit-triple both write'],
    [['x-ratelimit-epoch', 'x-ratelimit-delta'], 'both write X-RateLimit-Limit'],
    [['x-ratelimit'], 'accepted: x-ratelimit-epoch (reset in seconds since the epoch) or'],
    [['structurd'], 'did you mean structured? accepted: structured'],
    [['draft-5'], '"draft-5" is no header dialect; accepted: structured, draft-11'],
  ])('refuses %j', (names, message) => {
    expect(() => dialectsOf(names as DialectName[])).toThrow(message)
  })

  it('takes a name twice as once', () => {
    expect(dialectsOf(['structured', 'structured'])).toHaveLength(1)
  })
})

describe('windows in whole seconds', () => {
  it.each<[Limit, number]>([
    [limit('100/min'), 60],
    [limit('5/100ms'), 1],
    [limit({ quota: 3, window: 1001, algorithm: 'fixed-window' }), 2],
    // A bucket fills from empty in burst · window / quota.
    [limit('100/min', { burst: 10 }), 6],
    [limit('10/min', { burst: 100 }), 600],
    [limit('0/min'), 60],
  ])('%j is %i', (made, seconds) => {
    expect(windowOf(made)).toBe(seconds)
  })
})

describe('names in quotes', () => {
  it('are read back as they were, if a header can carry them', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)),
        }),
        (text) => {
          expect(parseItem(stringItem(text))[0]).toBe(text)
        },
      ),
    )
  })

  it('never break out of their quotes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(stringItem(text)).toMatch(/^"(?:[ !#-[\]-~]|\\["\\])*"$/)
        expect(() => parseItem(stringItem(text))).not.toThrow()
      }),
    )
  })
})
