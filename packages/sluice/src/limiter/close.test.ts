import { describe, expect, it, vi } from 'vitest'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Store } from '../stores/store.ts'
import { createLimiter } from './create-limiter.ts'
import type { SyncLimiter } from './limiter.ts'

const rules = [{ name: 'rule', by: ['key'], limit: '1/min' }] as const
const calls: readonly [name: string, call: (limiter: SyncLimiter) => unknown][] = [
  ['check', (limiter) => limiter.check('a')],
  ['check by attributes', (limiter) => limiter.check({ user: 'a' })],
  ['peek', (limiter) => limiter.peek('a')],
  ['refund', (limiter) => limiter.refund('a')],
  ['reset', (limiter) => limiter.reset('a')],
]
const closed = { code: 'limiter-closed', message: expect.stringContaining('the limiter is closed') }

describe('a closed limiter', () => {
  it.each(calls)('answers %s with an error that says so', (_, call) => {
    const bare = createLimiter({ limit: '1/min' })
    const ruled = createLimiter({ policy: { name: 'test', rules } })
    for (const limiter of [bare, ruled]) {
      limiter.check('a')
      limiter.close()
      expect(() => call(limiter)).toThrow(expect.objectContaining(closed))
    }
  })

  it.each(calls)('on a remote store rejects %s', async (_, call) => {
    const store = remote()
    const limiter = createLimiter({ limit: '1/min', store })
    await limiter.close()
    await expect(call(limiter as unknown as SyncLimiter)).rejects.toMatchObject(closed)
    expect(store.take).not.toHaveBeenCalled()
  })

  it('may be closed again', async () => {
    const limiter = createLimiter({ limit: '1/min' })
    limiter.close()
    expect(() => limiter.close()).not.toThrow()
    const other = createLimiter({ limit: '1/min', store: remote() })
    await other.close()
    await expect(other.close()).resolves.toBeUndefined()
  })
})

describe('the store', () => {
  it('ends with the limiter that made it', () => {
    vi.useFakeTimers()
    try {
      const limiter = createLimiter({ limit: '1/min' })
      expect(vi.getTimerCount()).toBe(1)
      limiter.close()
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('stays open when the caller made it', async () => {
    const store = memoryStore()
    const close = vi.spyOn(store, 'close')
    const first = createLimiter({ limit: '1/min', store })
    expect(first.check('a').allowed).toBe(true)
    first.close()
    expect(close).not.toHaveBeenCalled()
    // Its counts too: another limiter with the same rule goes on with them.
    expect(createLimiter({ limit: '1/min', store }).check('a').allowed).toBe(false)
    store.close()

    const foreign = remote()
    await createLimiter({ limit: '1/min', store: foreign }).close()
    expect(foreign.close).not.toHaveBeenCalled()
  })
})

function remote() {
  return {
    take: vi.fn<Store['take']>(async () => []),
    peek: vi.fn<Store['peek']>(async () => []),
    refund: vi.fn<Store['refund']>(async () => {}),
    reset: vi.fn<Store['reset']>(async () => {}),
    close: vi.fn<Store['close']>(async () => {}),
  }
}
