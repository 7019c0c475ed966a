// What an adapter writes of requests that a lease has allowed, and what a client makes of it.
import { expect, it } from 'vitest'
import { adaptive } from '../../src/client/adaptive.ts'
import { withLeases } from '../../src/coordination/leased-store.ts'
import { rateLimit } from '../../src/http/fetch.ts'
import type { Exchanged, HoldStore } from '../../src/stores/holds/hold-store.ts'
import { withHolds } from '../../src/stores/holds/with-holds.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeTimers } from '../../src/testing/fake-timers.ts'
import { VirtualTime } from '../simulation/virtual-time.ts'

it('a client that follows the fields gets the rate of the limit', async () => {
  const timers = fakeTimers()
  const time = new VirtualTime(1_800_000_000_000)
  const shared = withHolds(memoryStore({ clock: () => Math.floor(time.now) }))
  const remote: HoldStore = {
    ...shared,
    take: async (checks) => shared.take(checks),
    peek: async (checks) => shared.peek(checks),
    refund: async (checks) => shared.refund(checks),
    exchange: async (settlements, checks) => shared.exchange(settlements, checks) as Exchanged,
    close: () => {},
  }
  const store = withLeases(
    remote,
    { life: 20_000 },
    { clock: { now: time.clock }, timers: time.timers },
  )
  const rule = { name: 'r', by: [], limit: '100/s', coordination: 'leased' } as const
  const sources = new Set<string | undefined>()
  const handler = rateLimit({
    policy: { name: 'p', rules: [rule] },
    store,
    resilience: false,
    onDecision: ({ outcomes }) => void sources.add(outcomes[0]?.source),
  })(() => new Response())
  const fields: string[] = []
  const send = adaptive(
    async (input, init) => {
      const response = await handler(new Request(input, init))
      fields.push(response.headers.get('RateLimit') ?? '')
      expect(response.status).toBe(200)
      expect(response.headers.get('RateLimit-Policy')).toBe('"r";q=100;w=1')
      return response
    },
    { timers },
  )
  const all = Array.from({ length: 550 }, () => send('http://api.test/'))
  for (let passed = 0; passed < 6000; passed += 10) {
    await time.pass(10)
    await timers.advance(10)
  }
  expect(fields).toHaveLength(550)
  await Promise.all(all)
  expect(sources).toContain('lease')
  expect(fields.filter((field) => field.includes('t=2'))).toEqual([])
})
