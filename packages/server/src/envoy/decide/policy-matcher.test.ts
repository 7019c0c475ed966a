import { memoryStore, type AsyncStore, type Policy, type Store } from 'sluice'
import { withResilience } from 'sluice/resilience'
import { fakeClock } from 'sluice/testing'
import { describe, expect, test } from 'vitest'
import type { Descriptor } from '../wire/request.ts'
import { OK, OVER_LIMIT, type RateLimitResponse } from '../wire/response.ts'
import { decidedDomain } from './decided-domain.ts'
import { matcherOfPolicy } from './policy-matcher.ts'

const POLICY: Policy = {
  name: 'api',
  rules: [
    {
      name: 'per-user',
      by: ['user'],
      limit: { quota: 5, window: '10s', algorithm: 'fixed-window' },
    },
    {
      name: 'per-path',
      by: ['path'],
      limit: { quota: 100, window: '1min', algorithm: 'fixed-window' },
    },
  ],
}

function descriptor(entries: Record<string, string>, more: Partial<Descriptor> = {}): Descriptor {
  return {
    entries: Object.entries(entries).map(([key, value]) => ({ key, value })),
    limit: undefined,
    hits: undefined,
    negative: false,
    ...more,
  }
}

/** The same store, which answers by promises. */
function byPromises(inner: Store): Store {
  return {
    take: async (checks) => inner.take(checks),
    peek: async (checks) => inner.peek(checks),
    refund: async (checks) => inner.refund(checks),
    reset: async (checks) => inner.reset(checks),
    close: async () => inner.close(),
  }
}

describe.each(['memory', 'by promises'])('a policy as a domain, %s', (kind) => {
  function start() {
    const memory = memoryStore({ clock: fakeClock(0) })
    const store = kind === 'memory' ? memory : byPromises(memory)
    const domain = decidedDomain(matcherOfPolicy(POLICY), { store })
    return async (...descriptors: Descriptor[]): Promise<RateLimitResponse> =>
      domain.decide({ domain: 'api', descriptors, hits: 0 })
  }

  test('entries are attributes; the binding rule is shown, in the nearest unit that is not faster', async () => {
    const ask = start()
    const { statuses } = await ask(
      descriptor({ user: 'a', path: '/x' }),
      descriptor({ other: 'b' }),
    )
    expect(statuses).toMatchObject([
      {
        code: OK,
        // 5 in 10 s is no whole number of requests in a second: 30 in a minute is.
        currentLimit: { name: 'per-user', requestsPerUnit: 30, unit: 2 },
        limitRemaining: 4,
        secondsUntilReset: 10,
      },
      { code: OK, currentLimit: undefined },
    ])
  })

  test('a refused request charges none of its descriptors', async () => {
    const ask = start()
    await ask(descriptor({ user: 'a' }, { hits: 5 }))
    const { overallCode, statuses } = await ask(
      descriptor({ path: '/x' }),
      descriptor({ user: 'a' }),
    )
    expect([overallCode, statuses.map(({ code }) => code)]).toEqual([OVER_LIMIT, [OK, OVER_LIMIT]])
    const [path] = (await ask(descriptor({ path: '/x' }, { hits: 0 }))).statuses
    expect(path?.limitRemaining).toBe(100)
  })

  test('looks take nothing and refuse when nothing is left; negative hits hand back', async () => {
    const ask = start()
    const look = descriptor({ user: 'a' }, { hits: 0 })
    await ask(descriptor({ user: 'a' }, { hits: 4 }))
    expect((await ask(look)).statuses[0]).toMatchObject({ code: OK, limitRemaining: 1 })
    await ask(descriptor({ user: 'a' }))
    expect((await ask(look)).overallCode).toBe(OVER_LIMIT)
    const given = await ask(descriptor({ user: 'a' }, { hits: 2, negative: true }))
    expect(given.statuses[0]).toMatchObject({ code: OK, limitRemaining: 2 })
    const refused = await ask(
      descriptor({ user: 'a' }, { hits: 2, negative: true }),
      descriptor({ user: 'a' }, { hits: 3 }),
    )
    expect(refused.overallCode).toBe(OVER_LIMIT)
    expect((await ask(look)).statuses[0]?.limitRemaining).toBe(2)
  })

  test('a mistake in one descriptor charges none of the others', async () => {
    const ask = start()
    const endless = descriptor({ path: 'x'.repeat(70_000) })
    await expect(ask(descriptor({ user: 'a' }), endless)).rejects.toMatchObject({
      code: 'invalid-key',
    })
    expect((await ask(descriptor({ user: 'a' }, { hits: 0 }))).statuses[0]?.limitRemaining).toBe(5)
  })

  test('limits of the caller are refused', async () => {
    const limit = { requestsPerUnit: 1, unit: 1 }
    await expect(start()(descriptor({ user: 'a' }, { limit }))).rejects.toMatchObject({
      name: 'BadRequest',
    })
  })
})

test('a rule that is closed without its store is unavailable, not over the limit', async () => {
  const policy: Policy = {
    name: 'api',
    rules: [{ ...POLICY.rules[0]!, onStoreFailure: 'closed' }, POLICY.rules[1]!],
  }
  const unreachable = {
    ...byPromises(memoryStore()),
    take: () => Promise.reject(new Error('gone')),
  }
  const store = withResilience(unreachable as AsyncStore, { onEvent: () => {} })
  const domain = decidedDomain(matcherOfPolicy(policy), { store })
  const decided = async () =>
    domain.decide({
      domain: 'api',
      hits: 0,
      descriptors: [descriptor({ path: '/x' }), descriptor({ user: 'a' })],
    })
  await expect(decided()).rejects.toMatchObject({ code: 'store-failed', transient: true })
  await store.close()
})
