import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createLimiter } from './create-limiter.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { AsyncStore } from '../stores/store.ts'

const policy = {
  name: 'api',
  rules: [
    {
      name: 'per-user',
      by: ['user'],
      limit: '2/min',
      overrides: [{ when: { user: 'ann' }, limit: '3/min' }],
    },
  ],
}

/** A store that answers by promises. */
function remoteStore(): AsyncStore {
  const store = memoryStore()
  return {
    take: async (checks) => store.take(checks),
    peek: async (checks) => store.peek(checks),
    refund: async (checks) => store.refund(checks),
    reset: async (checks) => store.reset(checks),
    close: async () => store.close(),
  }
}

/** Moves this process's clock on. */
function later(): (millis: number) => void {
  let moved = 0
  const spy = vi.spyOn(performance, 'now')
  const start = performance.timeOrigin
  const base = Date.now() - start
  spy.mockImplementation(() => base + moved)
  onTestFinished(() => spy.mockRestore())
  return (millis) => {
    moved += millis
  }
}

describe('limiter.block', () => {
  it('refuses callers that match until its end, and counts nothing meanwhile', () => {
    const advance = later()
    const limiter = createLimiter({ policy })
    const { until } = limiter.block({ user: 'ann' }, '10min')
    const decision = limiter.check({ user: 'ann' })
    expect(decision).toMatchObject({ allowed: false, reason: 'blocked', retryAfter: 600_000 })
    expect(limiter.peek({ user: 'ann' }).reason).toBe('blocked')
    expect(limiter.check({ user: 'bob' }).allowed).toBe(true)
    expect(until).toBeTypeOf('number')
    advance(599_999)
    expect(limiter.check({ user: 'ann' }).retryAfter).toBe(1)
    advance(1)
    expect(limiter.check({ user: 'ann' })).toMatchObject({ allowed: true, remaining: 2 })
  })

  it('ends when it is removed, and not before the longest of several ends', () => {
    const limiter = createLimiter({ policy })
    const short = limiter.block({ user: 'ann' }, '1min')
    const long = limiter.block({ user: ['ann', 'eve'] }, '1h')
    expect(limiter.check({ user: 'ann' }).retryAfter).toBeGreaterThan(60_000)
    long.remove()
    expect(limiter.check({ user: 'ann' }).retryAfter).toBeLessThanOrEqual(60_000)
    short.remove()
    short.remove()
    expect(limiter.check({ user: 'ann' }).allowed).toBe(true)
  })

  it('holds on the shortest path, on which the limiter goes on once the block has ended', () => {
    const advance = later()
    const limiter = createLimiter({ limit: '5/min' })
    expect(limiter.check('k').remaining).toBe(4)
    limiter.block('k', '1s')
    expect(limiter.check('k').reason).toBe('blocked')
    expect(limiter.check('other').allowed).toBe(true)
    advance(1000)
    expect(limiter.check('k').remaining).toBe(3)
    expect(limiter.check('k').remaining).toBe(2)
  })

  it('stands beside the option blocked, and the longer wait is reported', () => {
    const limiter = createLimiter({ limit: '5/min', blocked: () => 5000 })
    limiter.block('k', '2s')
    expect(limiter.check('k').retryAfter).toBe(5000)
    limiter.block('k', '1min')
    expect(limiter.check('k').retryAfter).toBeGreaterThan(5000)
  })

  it('works on a remote store, whose limiter returns promises', async () => {
    const limiter = createLimiter({ limit: '5/min', store: remoteStore() })
    const block = limiter.block('k', '1min')
    expect((await limiter.check('k')).reason).toBe('blocked')
    block.remove()
    expect((await limiter.check('k')).allowed).toBe(true)
  })

  it.each([
    [{}, '1min', /when is \{\}/],
    [{ user: { like: 'x' } }, '1min', /user/],
    ['', '1min', /key/],
    [{ user: 'ann' }, 'soon', /duration is "soon"/],
    [{ user: 'ann' }, 0, /duration is 0/],
  ])('refuses a mistake: %j for %j', (who, lasts, message) => {
    const limiter = createLimiter({ policy })
    expect(() => limiter.block(who as string, lasts as number)).toThrow(message)
    expect(limiter.check({ user: 'ann' }).allowed).toBe(true)
  })
})

describe('limiter.override', () => {
  it('overrides the policy for callers that match, with the units taken so far', () => {
    const limiter = createLimiter({ policy })
    expect(limiter.check({ user: 'ann' }).remaining).toBe(2)
    const raised = limiter.override('per-user', { user: 'ann' }, '10/min')
    expect(limiter.check({ user: 'ann' }).remaining).toBe(8)
    expect(limiter.check({ user: 'bob' }).remaining).toBe(1)
    raised.remove()
    expect(limiter.check({ user: 'ann' }).remaining).toBe(0)
  })

  it('lets the newest one win, each until its end', () => {
    const advance = later()
    const limiter = createLimiter({ policy })
    limiter.override('per-user', { user: 'bob' }, '10/min', '1h')
    limiter.override('per-user', { user: 'bob' }, 'unlimited', '1min')
    expect(limiter.check({ user: 'bob' }).reason).toBe('no-rule')
    advance(60_000)
    expect(limiter.check({ user: 'bob' }).limit?.quota).toBe(10)
    advance(3_540_000)
    expect(limiter.check({ user: 'bob' }).limit?.quota).toBe(2)
  })

  it('holds for one key of a bare limit, and ends on the shortest path', () => {
    const limiter = createLimiter({ limit: '2/min' })
    limiter.check('k')
    const raised = limiter.override('default', 'k', '5/min')
    expect(limiter.check('k').remaining).toBe(3)
    raised.remove()
    expect(limiter.check('k')).toMatchObject({ allowed: false })
  })

  it.each([
    ['per-usr', { user: 'ann' }, '1/min', /accepted: per-user/],
    ['per-user', { user: 'ann' }, '1 per min', /overrides\[0\].limit/],
    ['per-user', {}, '1/min', /overrides\[0\].when/],
  ])('refuses a mistake: %j, %j, %j', (rule, who, limit, message) => {
    const limiter = createLimiter({ policy })
    expect(() => limiter.override(rule, who, limit)).toThrow(message)
    expect(limiter.check({ user: 'ann' }).remaining).toBe(2)
  })
})
