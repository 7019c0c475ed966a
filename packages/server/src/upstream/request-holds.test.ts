// What a request to an LLM route holds while its answer streams.
import { expect, it, onTestFinished, vi } from 'vitest'
import { createLimiter, memoryStore } from 'sluice'
import { createBudget } from 'sluice/budgets'
import { fakeClock } from 'sluice/testing'
import type { ServiceLimiter } from '../limiters/limiters.ts'
import { createRequestHolds } from './request-holds.ts'

it('is extended while the answer goes on, for much longer than one hold, and settled once', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const clock = fakeClock()
  const rules = [{ name: 'tokens', by: [], limit: '100/day', hold: '10s' }] as const
  const budget = createBudget({ policy: { name: 'llm', rules }, store: memoryStore({ clock }) })
  const extend = vi.spyOn(budget, 'extend')
  const usage: string[] = []
  const holds = createRequestHolds({
    llm: ['/chat'],
    onUsage: (result) => void usage.push(result),
    onError: (error) => expect.unreachable(String(error)),
  })
  const limiter = createLimiter({ limit: '1/s' })
  const plain = Object.assign(limiter, { budget }) as unknown as ServiceLimiter
  const decision = holds.limiterFor(plain, '/chat').check({}) as never
  const held = holds.heldBy(decision)!
  for (let second = 0; second < 60; second++) {
    clock.advance(1000)
    vi.advanceTimersByTime(1000)
  }
  const left = (): number => budget.reserve({}, 1).decision.remaining
  // 5 % of the limit is the first estimate.
  expect(left()).toBe(94)
  held.end()
  held.end()
  held.cancel()
  const extended = extend.mock.calls.length
  vi.advanceTimersByTime(600_000)
  expect(usage).toEqual(['unknown'])
  expect(extend).toHaveBeenCalledTimes(extended)
})
