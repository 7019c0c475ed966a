import { describe, expect, it } from 'vitest'
import { limit } from '../limit/limit.ts'
import { createLimiter } from '../limiter/create-limiter.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { AsyncStore } from '../stores/store.ts'
import type { Decision } from './decision.ts'

describe('an observed decision', () => {
  it('is measured only if it is to be', () => {
    const elapsed: number[] = []
    let isTimed = true
    const limiter = createLimiter({
      limit: '5/min',
      onDecision: (_, __, millis) => void elapsed.push(millis),
      isTimed: () => isTimed,
    })
    limiter.check('a')
    isTimed = false
    limiter.check('a')
    expect(elapsed[0]).toBeGreaterThanOrEqual(0)
    expect(elapsed[1]).toBeNaN()
  })

  it('makes the id of a refusal once, when it is read', () => {
    const seen: Decision[] = []
    let made = 0
    const limiter = createLimiter({
      limit: '1/h',
      identify: () => `id ${(made += 1)}`,
      onDecision: (decision) => void seen.push(decision),
    })
    limiter.check('a')
    const refused = limiter.check('a')
    expect(made).toBe(0)
    expect(seen[0]!.id).toBeUndefined()
    expect([refused.id, refused.id, seen[1]!.id]).toEqual(['id 1', 'id 1', 'id 1'])
    expect(JSON.parse(JSON.stringify(refused))).toMatchObject({ id: 'id 1', allowed: false })
  })

  it('has an id also when it was refused without a promise', () => {
    const [refused] = memoryStore().take([{ space: 'a', key: 'a', cost: 2, limit: limit('1/h') }])
    const store: AsyncStore = {
      take: () => Promise.resolve([refused!]),
      takeNow: () => [refused!],
      peek: () => Promise.resolve([refused!]),
      refund: () => Promise.resolve(),
      reset: () => Promise.resolve(),
      close: () => {},
    }
    const limiter = createLimiter({ limit: '1/h', store, identify: () => 'its id' })
    expect(limiter.checkNow('a')).toMatchObject({ allowed: false, id: 'its id' })
  })
})
