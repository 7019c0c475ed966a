import { describe, expect, it } from 'vitest'
import { createLimiter } from '../limiter/create-limiter.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { createRequestGuard } from './create-request-guard.ts'
import type { AnyBudget } from './held-requests.ts'
import { nodeAdapter, type NodeRequest } from './node-adapter.ts'

const ROUTES = ['/files/:name', '/files/:folder/:name']

/** A budget that cannot answer for one route. */
function budgetThatFailsFor(route: string) {
  const limiter = createLimiter({ limit: '100/min', store: memoryStore() })
  const settled: string[] = []
  let reserved = 0
  const budget: Partial<AnyBudget> = {
    reserve(attributes) {
      if ((attributes as { route?: string }).route === route) throw new Error('the store is lost')
      reserved += 1
      return { allowed: true, id: `r${reserved}`, units: 1, decision: limiter.check('k') }
    },
    settle: (id) => void settled.push(id),
  }
  return { budget: budget as AnyBudget, settled }
}

function requestTo(url: string): NodeRequest {
  const socket = { remoteAddress: '192.0.2.1' }
  return { url, method: 'GET', headers: {}, rawHeaders: [], socket } as never
}

describe('a request that some servers take for another path', () => {
  it.each(ROUTES)('settles what it holds, although the check for %s fails', async (route) => {
    const { budget, settled } = budgetThatFailsFor(route)
    const guard = createRequestGuard(nodeAdapter, budget, {
      routes: ROUTES,
      onFailure: 'open',
      onWarning: () => {},
    })
    const admission = await guard.enter(requestTo('/files/a%2fb'), null)
    expect(admission.refusal).toBeNull()
    guard.answered(admission, 200, requestTo('/'), null as never)
    expect(settled).toEqual(['r1'])
    // All requests that are not counted share one admission, which must hold nothing.
    const failed = await guard.enter(requestTo(route.replaceAll(':', '')), null)
    expect(failed).toMatchObject({ decision: null, held: undefined })
  })
})
