// Budgets in every adapter: a request holds its slot and its tokens until its response is over, however it ends.
import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import { createBudget, type BudgetRule } from '../../src/budgets/create-budget.ts'
import { rateLimit } from '../../src/http/node.ts'
import type { NodeResponse } from '../../src/http/node-adapter.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { withHolds } from '../../src/stores/holds/with-holds.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { backgroundTimers } from '../../src/time/timers.ts'
import { ADAPTERS, type Service } from './adapters.ts'

/** A busy machine takes its time to close what clients have left. */
const PATIENT = { timeout: 20_000 }
const SLOTS = 8
const slots: BudgetRule = { name: 'at-once', by: [], concurrency: SLOTS, hold: '1day' }
const tokens: BudgetRule = { name: 'tokens', by: [], limit: '1000/day', hold: '60s' }

const ending: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ending.splice(0)) await end()
})

/** A budget, as one of this process or as a remote one answers, and what is left of its rules. */
function budgetOf(rules: BudgetRule[], isRemote = false) {
  const policy = { name: 'web', rules }
  const store = withHolds(memoryStore({ clock: fakeClock() }))
  // A remote store answers by promises, with nothing else different.
  const remote = { ...methodsOf(store), sync: false as const }
  const budget = createBudget({
    policy,
    store: (isRemote ? remote : store) as typeof store,
    resilience: false,
    timers: backgroundTimers,
  })
  ending.push(() => budget.close())
  const looking = createLimiter({ policy: parsePolicy(policy), store })
  const left = (): Record<string, number> =>
    Object.fromEntries(looking.peek({}, 0).outcomes.map((one) => [one.rule, one.remaining]))
  return { budget, left }
}

function methodsOf(store: ReturnType<typeof withHolds>) {
  return {
    exchange: async (...args: Parameters<typeof store.exchange>) => store.exchange(...args),
    take: async (...args: Parameters<typeof store.take>) => store.take(...args),
    peek: async (...args: Parameters<typeof store.peek>) => store.peek(...args),
    refund: async (...args: Parameters<typeof store.refund>) => store.refund(...args),
    reset: async (...args: Parameters<typeof store.reset>) => store.reset(...args),
    close: async () => store.close(),
  }
}

describe.each(ADAPTERS)('$name', (adapter) => {
  const start = async (...given: Parameters<typeof adapter.start>[0]): Promise<Service> => {
    const service = await adapter.start(given)
    ending.unshift(() => service.close())
    return service
  }

  it.each([false, true])(
    'frees a slot when the response is over, whatever it is: remote %s',
    async (isRemote) => {
      const { budget, left } = budgetOf([slots], isRemote)
      const { url } = await start([budget])
      const paths = ['/hello', '/orders/7', '/stream', '/error', '/none', '/login?status=204']
      for (const path of paths) {
        const response = await fetch(url + path)
        await response.text()
        await expect.poll(left, PATIENT).toEqual({ 'at-once': SLOTS })
      }
      await fetch(`${url}/stream`, { method: 'HEAD' })
      await expect.poll(left, PATIENT).toEqual({ 'at-once': SLOTS })
    },
  )

  it('frees the slots of clients that leave at any time', async () => {
    const { budget, left } = budgetOf([slots], true)
    const seen: number[] = []
    const { url } = await start([budget, { onDecision: () => seen.push(left()['at-once']!) }])
    const { port, hostname } = new URL(url)
    const leave = async (i: number): Promise<void> => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      await once(socket, 'connect')
      socket.write(`GET /stream HTTP/1.1\r\nHost: x\r\n\r\n`)
      if (i % 7 === 6) await once(socket, 'data')
      else for (let turn = 0; turn < i % 7; turn++) await new Promise((go) => setImmediate(go))
      const closed = once(socket, 'close')
      socket.destroy()
      await closed
    }
    for (let round = 0; round < 4; round++)
      await Promise.all(Array.from({ length: 10 }, (_, i) => leave(i)))
    await expect.poll(left, PATIENT).toEqual({ 'at-once': SLOTS })
    expect(Math.min(...seen)).toBeLessThan(SLOTS)
  }, 60_000)

  it('refuses when every slot is taken, and tells the limit', async () => {
    const { budget, left } = budgetOf([slots])
    const { url, handled } = await start([budget])
    const held = Array.from({ length: SLOTS }, () => budget.enter({}))
    const refused = await fetch(`${url}/hello`)
    expect([refused.status, handled]).toEqual([429, []])
    const [policy, item] = ['ratelimit-policy', 'ratelimit'].map((name) =>
      refused.headers.get(name),
    )
    expect(policy).toBe(`"at-once";q=${SLOTS};qu="concurrent-requests"`)
    expect(item).toBe('"at-once";r=0')
    expect(await refused.text()).toContain(
      'Too many requests at once. Try again when one has ended',
    )
    held[0]!.leave()
    expect((await fetch(`${url}/hello`)).status).toBe(200)
    for (const slot of held) slot.leave()
    await expect.poll(left, PATIENT).toEqual({ 'at-once': SLOTS })
  })

  it('reserves the cost, and settles what `after` says when the response is over', async () => {
    const { budget, left } = budgetOf([tokens, slots], true)
    const during: unknown[] = []
    const onDecision = (): unknown => during.push(left())
    const after = ({ status }: { status: number }): number | undefined =>
      status === 200 ? 30 : undefined
    const { url } = await start([budget, { cost: 100, after, onDecision }])
    await (await fetch(`${url}/stream`)).text()
    await expect.poll(left, PATIENT).toEqual({ tokens: 970, 'at-once': SLOTS })
    expect(during).toEqual([{ tokens: 900, 'at-once': SLOTS - 1 }])
    // Without an answer of `after` it is the estimate.
    await (await fetch(`${url}/none`)).text()
    await expect.poll(left, PATIENT).toEqual({ tokens: 870, 'at-once': SLOTS })
  })

  it('estimates by what requests cost before', async () => {
    const { budget, left } = budgetOf([tokens])
    const { url } = await start([budget, { after: () => 7 }])
    await (await fetch(`${url}/hello`)).text()
    await expect.poll(left, PATIENT).toEqual({ tokens: 993 })
    let held = 0
    const next = await start([budget, { onDecision: () => (held = left()['tokens']!) }])
    await (await fetch(`${next.url}/hello`)).text()
    await expect.poll(left, PATIENT).toEqual({ tokens: 986 })
    expect(held).toBe(986)
  })
})

it('leaks no slot, whenever the clients of very many requests leave', async () => {
  const { budget, left } = budgetOf([slots])
  const limit = rateLimit(budget, { key: () => 'all', headers: false })
  const open: FakeResponse[] = []
  let passed = 0
  for (let i = 0; i < lengthOf(10_000, 1_000_000); i++) {
    const response = new FakeResponse()
    // Some clients leave before they are let in, some at once, some later; some have an answer by then.
    if (i % 5 === 0) response.close()
    const request = { method: 'GET', url: '/', headers: {}, rawHeaders: [], socket: {} }
    limit(request, response as unknown as NodeResponse, () => passed++)
    response.headersSent = i % 3 === 0
    if (i % 7 === 0) response.close()
    open.push(response)
    while (open.length > i % (2 * SLOTS)) open.shift()!.close()
  }
  for (const response of open) response.close()
  expect(passed).toBeGreaterThan(0)
  expect(left()).toEqual({ 'at-once': SLOTS })
}, 600_000)

class FakeResponse extends EventEmitter {
  statusCode = 200
  headersSent = false
  closed = false
  setHeader(): void {}
  getHeader(): undefined {}
  end(): void {
    this.headersSent = true
    this.close()
  }
  close(): void {
    if (this.closed) return
    this.closed = true
    this.emit('close')
  }
}

it('is a mistake to charge slots by the response', async () => {
  const { budget } = budgetOf([slots])
  await expect(async () => ADAPTERS[0]!.start([[budget, { after: () => 1 }]])).rejects.toThrow(
    /after is given, but the budget has slots alone/,
  )
})
