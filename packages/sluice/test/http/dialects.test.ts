// Every header dialect in every situation, over real sockets, read back by a parser that is not ours.
import { parseDictionary, parseItem, parseList } from 'structured-headers'
import { describe, expect, it } from 'vitest'
import type { DialectName } from '../../src/http/index.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import type { Rule } from '../../src/policy/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { serving } from './serving.ts'

const clock = fakeClock(1_800_000_000_000)

/** What a response says, in one shape for all dialects: the tightest limit, or each by name. */
interface Told {
  readonly limit: number
  readonly remaining: number
  readonly reset: number
}

const number = (headers: Headers, name: string): number => {
  const [value] = parseItem(headers.get(name)!)
  return value as number
}
const trio = (headers: Headers, prefix: string): Told => ({
  limit: parseList(headers.get(`${prefix}-Limit`)!)[0]![0] as number,
  remaining: number(headers, `${prefix}-Remaining`),
  reset: number(headers, `${prefix}-Reset`),
})
const policiesIn = (value: string | null): string[] =>
  parseList(value!).map(([quota, parameters]) => `${String(quota)}/${String(parameters.get('w'))}`)

/** How each dialect is read: the fields that it has, what they say, and which policies they list. */
const READERS: Record<
  // Drafts 8 to 11 are `structured` by another name.
  Exclude<DialectName, `draft-${'8' | '9' | '10' | '11'}`>,
  {
    fields: readonly string[]
    told: (headers: Headers) => Told | Record<string, string>
    policies?: (headers: Headers) => string[]
  }
> = {
  structured: {
    fields: ['ratelimit', 'ratelimit-policy'],
    told(headers) {
      const policies = parseList(headers.get('ratelimit-policy')!)
      const limits = parseList(headers.get('ratelimit')!)
      return Object.fromEntries(
        limits.map(([name, parameters], i) => {
          const [policy, { q, w }] = [policies[i]![0], Object.fromEntries(policies[i]![1])]
          const { r, t } = Object.fromEntries(parameters)
          expect(policy).toBe(name)
          return [name as string, [q, w, r, t].join(' ')]
        }),
      )
    },
  },
  'draft-7': {
    fields: ['ratelimit', 'ratelimit-policy'],
    told(headers) {
      const members = parseDictionary(headers.get('ratelimit')!)
      const { limit, remaining, reset } = Object.fromEntries(
        [...members].map(([name, [value]]) => [name, value as number]),
      )
      return { limit: limit!, remaining: remaining!, reset: reset! }
    },
    policies: (headers) => policiesIn(headers.get('ratelimit-policy')),
  },
  'draft-6': {
    fields: ['ratelimit-limit', 'ratelimit-policy', 'ratelimit-remaining', 'ratelimit-reset'],
    told: (headers) => trio(headers, 'RateLimit'),
    policies: (headers) => policiesIn(headers.get('ratelimit-policy')),
  },
  'draft-3': {
    fields: ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'],
    told: (headers) => trio(headers, 'RateLimit'),
    policies: (headers) => policiesIn(headers.get('ratelimit-limit')).slice(1),
  },
  'ratelimit-triple': {
    fields: ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'],
    told: (headers) => trio(headers, 'RateLimit'),
  },
  'x-ratelimit-epoch': {
    fields: ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
    told(headers) {
      const { reset, ...rest } = trio(headers, 'X-RateLimit')
      // Seconds since the epoch by this machine's clock; the table tells seconds from now.
      return { ...rest, reset: Math.round((reset * 1000 - Date.now()) / 10_000) * 10 }
    },
  },
  'x-ratelimit-delta': {
    fields: ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
    told: (headers) => trio(headers, 'X-RateLimit'),
  },
}

const minute: Rule = { name: 'minute', by: ['ip'], limit: '3/min' }
const day: Rule = { name: 'day', by: ['ip'], limit: '1000/d' }
const once: Rule = { name: 'once', by: ['ip'], limit: '1/min' }

interface Situation {
  readonly rules: readonly Rule[]
  /** Requests before the one that is looked at. */
  readonly before: number
  readonly status: number
  readonly told: Told | null
  readonly each: Record<string, string> | null
  readonly policies: readonly string[]
}

const first = { limit: 3, remaining: 2, reset: 20 }
const SITUATIONS: Record<string, Situation> = {
  allowed: {
    rules: [minute],
    before: 0,
    status: 200,
    told: first,
    each: { minute: '3 60 2 20' },
    policies: ['3/60'],
  },
  refused: {
    rules: [minute],
    before: 3,
    status: 429,
    told: { limit: 3, remaining: 0, reset: 20 },
    each: { minute: '3 60 0 20' },
    policies: ['3/60'],
  },
  'several rules': {
    rules: [day, minute],
    before: 0,
    status: 200,
    told: first,
    each: { day: '1000 86400 999 87', minute: '3 60 2 20' },
    policies: ['1000/86400', '3/60'],
  },
  'several rules, one refuses': {
    rules: [day, minute],
    before: 3,
    status: 429,
    told: { limit: 3, remaining: 0, reset: 20 },
    each: { day: '1000 86400 997 87', minute: '3 60 0 20' },
    policies: ['1000/86400', '3/60'],
  },
  'a hidden rule that refuses': {
    rules: [minute, { ...once, hidden: true }],
    before: 1,
    status: 429,
    told: first,
    each: { minute: '3 60 2 20' },
    policies: ['3/60'],
  },
  'a shadow rule that would refuse': {
    rules: [minute, { ...once, shadow: true }],
    before: 1,
    status: 200,
    told: { limit: 3, remaining: 1, reset: 40 },
    each: { minute: '3 60 1 20' },
    policies: ['3/60'],
  },
  'hidden rules alone': {
    rules: [{ ...once, hidden: true }],
    before: 1,
    status: 429,
    told: null,
    each: null,
    policies: [],
  },
  'an unlimited tier': {
    rules: [{ ...minute, tiers: { attribute: 'method', limits: { GET: 'unlimited' } } }],
    before: 5,
    status: 200,
    told: null,
    each: null,
    policies: [],
  },
  'no rule that applies': {
    rules: [{ name: 'user', by: ['user'], limit: '1/min' }],
    before: 5,
    status: 200,
    told: null,
    each: null,
    policies: [],
  },
}

/** The fields of all dialects. */
const FIELDS = new Set(Object.values(READERS).flatMap(({ fields }) => fields))

describe.each(Object.keys(READERS) as (keyof typeof READERS)[])('%s', (name) => {
  const { fields, told, policies } = READERS[name]

  it.each(Object.entries(SITUATIONS))('%s', async (_, situation) => {
    const limiter = createLimiter({
      policy: { name: 'api', rules: situation.rules },
      store: memoryStore({ clock }),
    })
    const url = await serving(limiter, { headers: name })
    for (let i = 0; i < situation.before; i++) await fetch(url)
    const { status, headers } = await fetch(url)
    const present = [...headers.keys()].filter((field) => FIELDS.has(field))
    const isTold = situation.told !== null
    expect([status, present]).toEqual([situation.status, isTold ? fields : []])
    expect(headers.has('retry-after')).toBe(status === 429)
    const expected = name === 'structured' ? situation.each : situation.told
    expect(isTold ? told(headers) : null).toEqual(expected)
    expect(isTold && policies ? policies(headers) : null).toEqual(
      isTold && policies ? situation.policies : null,
    )
  })
})
