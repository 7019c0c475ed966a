import { createLimiter, type DecisionRequest } from 'sluice'
import { describe, expect, it } from 'vitest'
import { RecentTraffic } from './recent-traffic.ts'

const decision = createLimiter({ limit: '5/min' }).check('a')
const noted = (attributes: Record<string, string | number>) => {
  const recent = new RecentTraffic(() => 1000)
  const request = { attributes: [attributes], checks: [], skipped: [] } as DecisionRequest
  recent.note('api', decision, request, 1)
  return recent.list()[0]!.attributes
}

const request: DecisionRequest = { attributes: [{ user: 'ann' }], checks: [], skipped: [] }

describe('a busy service', () => {
  it('shows the beginning of each tick', () => {
    const recent = new RecentTraffic(() => 1000)
    for (let i = 0; i < 5000; i++) recent.note('api', decision, request, 1)
    expect(recent.list()).toHaveLength(100)
    recent.note('api', decision, request, 2)
    expect(recent.list()).toHaveLength(101)
  })
})

describe('a request that is kept', () => {
  it('has its attributes', () => {
    expect(noted({ user: 'ann', size: 7 })).toEqual({ user: 'ann', size: 7 })
  })

  it.each([
    ['many attributes', Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`a${i}`, 'b']))],
    ['long names', { user: 'ann', ['n'.repeat(100_000)]: 'b' }],
    ['long values', { user: 'u'.repeat(100_000), key: 'k'.repeat(100_000) }],
  ])('is small, whatever its caller sends: %s', (_, attributes) => {
    expect(JSON.stringify(noted(attributes)).length).toBeLessThan(2048)
  })
})
