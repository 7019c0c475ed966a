// Each wrapper by itself, and one around the other.
import { describe, expect, it, vi } from 'vitest'
import { SluiceError } from '../errors.ts'
import { createLimiter } from '../limiter/create-limiter.ts'
import type { Limiter } from '../limiter/limiter.ts'
import {
  resilient,
  withBreaker,
  withDeadline,
  withFallback,
  type ResilienceEvent,
} from './index.ts'

/** A limiter that answers at once, never, or not at all. */
function remote(answer: () => 'now' | 'never' | 'error'): Limiter {
  const near = createLimiter({ limit: '100/h' })
  const later = <T>(act: () => T): Promise<T> => {
    const how = answer()
    if (how === 'never') return new Promise(() => {})
    if (how === 'error') return Promise.reject(new SluiceError('store-busy', 'busy'))
    return Promise.resolve(act())
  }
  return {
    check: (...args) => later(() => near.check(args[0], args[1])),
    peek: (...args) => later(() => near.peek(...args)),
    refund: (...args) => later(() => near.refund(...args)),
    reset: (...args) => later(() => near.reset(...args)),
    close: async () => near.close(),
  }
}

describe('withDeadline', () => {
  it('rejects when there is no answer in time, and not before', async () => {
    vi.useFakeTimers()
    const limiter = withDeadline(remote(() => 'never'))
    const ended = vi.fn<() => void>()
    const answer = limiter.check('a').finally(ended)
    const settled = Promise.allSettled([answer])
    await vi.advanceTimersByTimeAsync(99)
    expect(ended).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(2)
    const message = 'no answer within 100 ms'
    expect(await settled).toMatchObject([
      { reason: { code: 'store-timeout', transient: true, message } },
    ])
    vi.useRealTimers()
  })

  it('passes on answers and errors', async () => {
    let how: 'now' | 'error' = 'now'
    const limiter = withDeadline(
      remote(() => how),
      { timeout: 50 },
    )
    expect((await limiter.check('a')).remaining).toBe(99)
    how = 'error'
    await expect(limiter.check('a')).rejects.toMatchObject({ code: 'store-busy' })
  })
})

describe('withBreaker', () => {
  it('rejects at once while it is open, and says so', async () => {
    const limiter = withBreaker(
      remote(() => 'error'),
      { failures: 1 },
    )
    await expect(limiter.check('a')).rejects.toMatchObject({ code: 'store-busy' })
    await expect(limiter.check('a')).rejects.toMatchObject({
      code: 'breaker-open',
      transient: true,
      message: expect.stringMatching(/not asked after store-busy; next probe in \d+ ms/) as string,
    })
    await expect(limiter.peek('a')).rejects.toMatchObject({ code: 'breaker-open' })
  })
})

describe('withFallback', () => {
  it('answers by the other limiter, marked, also when that one answers by promises', async () => {
    const spare = createLimiter({ limit: '3/h' })
    const broken = remote(() => 'error')
    for (const limiter of [
      withFallback(broken, spare),
      withFallback(
        broken,
        remote(() => 'now'),
      ),
    ]) {
      const decision = await limiter.check('a')
      expect(decision).toMatchObject({ allowed: true, degraded: true, cause: 'store-busy' })
      expect(decision.outcomes).toMatchObject([{ source: 'fallback' }])
    }
  })

  it('asks the limiter every time', async () => {
    const answer = vi.fn<() => 'error'>(() => 'error')
    const limiter = withFallback(remote(answer), createLimiter({ limit: '3/h' }))
    for (let i = 0; i < 20; i++) await limiter.check('a')
    expect(answer).toHaveBeenCalledTimes(20)
  })
})

describe('resilient', () => {
  it('does all three, as one wrapper around the other does', async () => {
    let how: 'now' | 'error' = 'error'
    const spare = createLimiter({ limit: '50/h' })
    const events: ResilienceEvent[] = []
    const limiters = [
      resilient(
        remote(() => how),
        { fallback: spare, onEvent: (event) => void events.push(event) },
      ),
      withFallback(withBreaker(withDeadline(remote(() => how))), spare),
    ]
    for (const limiter of limiters) {
      how = 'error'
      const first = await limiter.check('a')
      expect(first).toMatchObject({ allowed: true, degraded: true, cause: 'store-busy' })
      how = 'now'
      expect((await limiter.check('a')).degraded).toBe(false)
    }
    expect(events).toMatchObject([{ type: 'fallback', operation: 'check', cause: 'store-busy' }])
  })
})

describe('mistakes', () => {
  const limiter = remote(() => 'now')
  it.each<[make: () => unknown, message: string]>([
    [() => withDeadline(limiter, { timeout: -1 }), 'withDeadline: timeout is -1; accepted'],
    [() => withDeadline(limiter, { patience: 1 } as object), 'unknown option "patience"'],
    [() => withDeadline(limiter, 5 as never), 'withDeadline: options are 5; accepted'],
    [() => withBreaker(limiter, { failures: 0.5 }), 'withBreaker: breaker.failures is 0.5'],
    [() => withFallback(limiter, limiter, { onEvent: 1 as never }), 'onEvent is 1; accepted'],
    [() => resilient(limiter, {} as never), 'resilient: fallback is missing; accepted: a limiter'],
    [() => resilient(limiter, undefined as never), 'resilient: options are undefined'],
  ])('are refused: %s', (make, message) => {
    expect(make).toThrow(expect.objectContaining({ code: 'invalid-option' }))
    expect(make).toThrow(message)
  })
})
