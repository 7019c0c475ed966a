import {
  memoryStore,
  type AsyncStore,
  type Attributes,
  type OnStoreFailure,
  type Store,
} from 'sluice'
import { withResilience } from 'sluice/resilience'
import { fakeClock } from 'sluice/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { decideOptions } from '../../limiters/decide-options.ts'
import { DecisionMetrics } from '../../metrics/decision-metrics.ts'
import { Observer } from '../../observe/observer.ts'
import { MetricRegistry } from '../../metrics/registry.ts'
import { HeldUnits } from '../../metrics/units-out.ts'
import type { Descriptor } from '../wire/request.ts'
import { OK, OVER_LIMIT, type RateLimitResponse } from '../wire/response.ts'
import { decidedDomain, type DecidedDomainOptions } from './decided-domain.ts'
import { FileMatcher, type FileMatcherOptions } from './descriptor-matcher.ts'

const CONFIG = {
  domain: 'shop',
  descriptors: [
    { key: 'user', rateLimit: { unit: 'minute', requestsPerUnit: 5 } },
    { key: 'tokens', rateLimit: { unit: 'minute', requestsPerUnit: 100 } },
    { key: 'soft', quotaMode: true, rateLimit: { unit: 'day', requestsPerUnit: 1 } },
  ],
}

/** Descriptors of texts such as `user=a*3`: a key, a value and hits. */
function descriptors(...texts: string[]): Descriptor[] {
  return texts.map((text) => {
    const [, key = '', value = '', sign, hits] = /^(\w+)=(\w+)(?:([*-])(\d+))?$/.exec(text) ?? []
    return {
      entries: [{ key, value }],
      limit: undefined,
      hits: hits === undefined ? undefined : Number(hits),
      negative: sign === '-',
    }
  })
}

interface Options extends FileMatcherOptions, DecidedDomainOptions {
  readonly store?: Store
}

function domainWith(options: Options = {}) {
  const clock = fakeClock(0)
  const { store = memoryStore({ clock }) } = options
  const domain = decidedDomain(new FileMatcher(CONFIG, options), { store }, options)
  const ask = async (...texts: string[]): Promise<RateLimitResponse> =>
    domain.decide({ domain: 'shop', descriptors: descriptors(...texts), hits: 0 })
  const left = async (text: string): Promise<number | undefined> =>
    (await ask(`${text}*0`)).statuses[0]?.limitRemaining
  return { ask, left, clock }
}

describe('what a refused request costs', () => {
  test('nothing, by default', async () => {
    const { ask, left } = domainWith()
    await ask('user=a*5')
    expect((await ask('user=a', 'tokens=a*10')).overallCode).toBe(OVER_LIMIT)
    expect(await left('tokens=a')).toBe(100)
  })

  test('what each descriptor can pay, when each pays for itself', async () => {
    const { ask, left } = domainWith({ charging: 'each' })
    await ask('user=a*5')
    const { overallCode, statuses } = await ask('user=a', 'tokens=a*10')
    expect([overallCode, statuses.map(({ code }) => code)]).toEqual([OVER_LIMIT, [OVER_LIMIT, OK]])
    expect(await left('tokens=a')).toBe(90)
    // More than is left: the count stops at the limit, so that what was used late is not forgotten.
    expect((await ask('tokens=a*500')).overallCode).toBe(OVER_LIMIT)
    expect(await left('tokens=a')).toBe(0)
  })
})

describe('a look at a used-up count', () => {
  test('refuses the request, and nothing is charged for it', async () => {
    const { ask, left } = domainWith()
    await ask('user=a*5')
    expect((await ask('user=a*0')).overallCode).toBe(OVER_LIMIT)
    const { overallCode, statuses } = await ask('tokens=a*10', 'user=a*0')
    expect([overallCode, statuses.map(({ code }) => code)]).toEqual([OVER_LIMIT, [OK, OVER_LIMIT]])
    expect(await left('tokens=a')).toBe(100)
  })

  test('is allowed where each descriptor pays for itself, as in Envoy’s own service', async () => {
    const { ask } = domainWith({ charging: 'each' })
    await ask('user=a*5')
    expect((await ask('user=a*0')).overallCode).toBe(OK)
    expect((await ask('user=a')).overallCode).toBe(OVER_LIMIT)
  })
})

describe('the same descriptor twice', () => {
  test('shows in a refused request what is really left', async () => {
    const { ask, left } = domainWith()
    await ask('tokens=a*20')
    const { overallCode, statuses } = await ask('tokens=a*50', 'tokens=a*50')
    expect(overallCode).toBe(OVER_LIMIT)
    expect(statuses.map(({ limitRemaining }) => limitRemaining)).toEqual([80, 80])
    expect(await left('tokens=a')).toBe(80)
  })

  test('is charged twice when the request is allowed', async () => {
    const { ask } = domainWith()
    const { statuses } = await ask('tokens=a*50', 'tokens=a*50')
    expect(statuses.map(({ limitRemaining }) => limitRemaining)).toEqual([50, 0])
  })
})

describe('what stands around the decisions', () => {
  const config = {
    domain: 'shop',
    descriptors: [
      {
        key: 'path',
        value: '/login',
        descriptors: [{ key: 'user', rateLimit: { unit: 'hour', requestsPerUnit: 2 } }],
      },
    ],
  }
  const login = (user: string) => ({
    domain: 'shop',
    hits: 0,
    descriptors: [
      { ...descriptors('other=x')[0]! },
      {
        ...descriptors('path=x')[0]!,
        entries: [
          { key: 'path', value: '/login' },
          { key: 'user', value: user },
        ],
      },
    ],
  })

  test('counts decisions by rule and knows who is refused most', async () => {
    const metrics = new MetricRegistry()
    const observer = new Observer()
    const matcher = new FileMatcher(config)
    const surroundings = {
      store: memoryStore(),
      decisions: new DecisionMetrics(metrics),
      observer,
      held: new HeldUnits(metrics),
    }
    const domain = decidedDomain(matcher, decideOptions(matcher.counted, surroundings))
    for (let i = 0; i < 5; i++) await domain.decide(login('amy'))
    expect(metrics.text()).toContain(
      'sluice_decisions_total{policy="shop",rule="path=/login, user",result="refused"} 3',
    )
    const naming = { decisionIdHeader: 'Decision-Id' }
    const named = decidedDomain(matcher, decideOptions(matcher.counted, surroundings), naming)
    const { responseHeaders } = await named.decide(login('amy'))
    const id = responseHeaders.find(({ key }) => key === 'Decision-Id')?.value
    expect(id).toMatch(/^[\w-]{23}$/)
    expect(observer.journal.list(Date.now())).toMatchObject([{ id: id!.slice(0, 10), count: 4 }])
    expect(observer.parts()).toMatchObject([
      {
        policy: 'shop',
        rule: 'path=/login, user',
        refused: { entries: [{ about: { path: '/login', user: 'amy' }, count: 4, error: 0 }] },
      },
    ])
  })

  test('refuses what is blocked before anything is counted', async () => {
    const store = memoryStore()
    const matcher = new FileMatcher(config)
    const blocked = ({ user }: Attributes) => (user === 'amy' ? 9500 : undefined)
    const domain = decidedDomain(matcher, { store, blocked })
    const { overallCode, statuses, responseHeaders } = await domain.decide(login('amy'))
    expect(overallCode).toBe(OVER_LIMIT)
    expect(statuses).toMatchObject([{ code: OK }, { code: OVER_LIMIT, secondsUntilReset: 10 }])
    expect(responseHeaders).toEqual([{ key: 'Retry-After', value: '10' }])
    expect((await domain.decide(login('bob'))).overallCode).toBe(OK)
    expect(store.stats().keys).toBe(1)
  })
})

describe('a store that cannot answer', () => {
  const unreachable = () => Promise.reject(new Error('unreachable'))
  const broken: AsyncStore = {
    take: unreachable,
    peek: unreachable,
    refund: unreachable,
    reset: unreachable,
    close: () => {},
  }
  const one = {
    domain: 'shop',
    descriptors: [{ key: 'user', rateLimit: { unit: 'minute', requestsPerUnit: 1 } }],
  }
  const started = (onStoreFailure: OnStoreFailure) => {
    const store = withResilience(broken, { onEvent: () => {} })
    onTestFinished(async () => store.close())
    const domain = decidedDomain(new FileMatcher(one, { onStoreFailure }), { store })
    return async () =>
      (await domain.decide({ domain: 'shop', descriptors: descriptors('user=a'), hits: 0 }))
        .overallCode
  }

  test('grants at least 1 of a limit of 1/min in this process', async () => {
    const decide = started('local')
    expect([await decide(), await decide()]).toEqual([OK, OVER_LIMIT])
  })

  test('lets everything through when it is open', async () => {
    const decide = started('open')
    expect([await decide(), await decide()]).toEqual([OK, OK])
  })

  test('fails the call when it is closed, so that the proxy applies its own failure mode', async () => {
    await expect(started('closed')()).rejects.toMatchObject({ code: 'store-failed' })
  })
})

describe('metadata', () => {
  test('tells which descriptors are over their quota', async () => {
    const { ask } = domainWith()
    const common = { domain: 'shop', quotaModeEnabled: true }
    expect((await ask('user=a')).dynamicMetadata).toBeUndefined()
    expect((await ask('soft=a')).dynamicMetadata).toEqual({
      ...common,
      descriptors: [{ entries: ['soft=a'] }],
    })
    const { overallCode, dynamicMetadata, unenforced } = await ask('user=a', 'soft=a')
    expect([overallCode, unenforced]).toEqual([OK, 1])
    expect(dynamicMetadata).toEqual({
      ...common,
      descriptors: [{ entries: ['user=a'] }, { entries: ['soft=a'] }],
      quotaModeViolations: [1],
    })
  })
})

describe('another algorithm', () => {
  test('keeps its own promise: a bucket fills steadily', async () => {
    const { ask, clock } = domainWith({ algorithm: 'token-bucket' })
    await ask('user=a*5')
    const refused = await ask('user=a')
    expect(refused.statuses[0]).toMatchObject({ code: OVER_LIMIT, secondsUntilReset: 12 })
    clock.advance(12_000)
    expect((await ask('user=a')).overallCode).toBe(OK)
  })
})

test('all descriptors of a request are one call to the store', async () => {
  const inner = memoryStore()
  const calls: number[] = []
  const store: Store = {
    take: async (checks) => {
      calls.push(checks.length)
      return inner.take(checks)
    },
    peek: (checks) => inner.peek(checks),
    refund: (checks) => inner.refund(checks),
    reset: (checks) => inner.reset(checks),
    close: () => inner.close(),
  }
  const { ask } = domainWith({ store })
  await ask('user=a', 'tokens=a*10', 'soft=a', 'other=a', 'user=b')
  expect(calls).toEqual([4])
})

test('hits beyond what anybody can count are refused, not wrapped around', async () => {
  const { ask, left } = domainWith()
  expect((await ask(`user=a*${Number.MAX_SAFE_INTEGER}`)).overallCode).toBe(OVER_LIMIT)
  expect(await left('user=a')).toBe(5)
})
