import { memoryStore, type Store } from 'sluice'
import { fakeClock } from 'sluice/testing'
import { describe, expect, test } from 'vitest'
import type { Descriptor } from '../wire/request.ts'
import { OK, OVER_LIMIT, type RateLimitResponse } from '../wire/response.ts'
import { descriptorDomain, type DescriptorDomainOptions } from './descriptor-domain.ts'

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

function domainWith(options: Partial<DescriptorDomainOptions> = {}) {
  const clock = fakeClock(0)
  const domain = descriptorDomain(CONFIG, { store: memoryStore({ clock }), ...options })
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
    expect((await ask('tokens=a*0')).overallCode).toBe(OVER_LIMIT)
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
