// A cluster of which one part fails: only requests with a count that lies there are answered without it.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLimiter } from '../src/limiter/create-limiter.ts'
import { redisStore, type GlideLike } from '../src/redis/index.ts'
import { SluiceError } from '../src/errors.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import type { Check, RemoteStore } from '../src/stores/store.ts'

const client: GlideLike = { customCommand: () => Promise.resolve([]) }
const check = (key: string): Check => ({
  space: 's',
  key,
  limit: { algorithm: 'token-bucket', quota: 1, window: 1000, burst: 1 },
  cost: 1,
})

describe('parts of the store for Redis', () => {
  it('are sixteen runs of slots in a cluster', () => {
    const store = redisStore(client, { cluster: true })
    const parts = Array.from({ length: 1000 }, (_, i) => store.shardOf!(check(`key ${i}`)))
    expect([...new Set(parts)].toSorted((a, b) => a - b)).toEqual([...Array(16).keys()])
    // The slot of foo is 12182.
    expect(store.shardOf!(check('foo'))).toBe(11)
  })

  it('are none without a cluster', () => {
    expect('shardOf' in redisStore(client)).toBe(false)
  })
})

/** Keys belong to parts by their length; those of part 3 cannot be reached. */
function parted(asked: string[] = []): RemoteStore {
  const counts = memoryStore()
  return {
    async take(checks) {
      asked.push(checks.at(-1)!.key)
      if (checks.some(({ key }) => key.length === 3))
        throw new SluiceError('store-unreachable', 'gone', { transient: true })
      return counts.take(checks)
    },
    peek: async (checks) => counts.peek(checks),
    refund: async (checks) => counts.refund(checks),
    reset: async (checks) => counts.reset(checks),
    close: () => counts.close(),
    shardOf: ({ key }) => key.length,
  }
}

describe('a limiter on a store with parts', () => {
  // Failures of one millisecond count as one, and a probe is due after some: both by a clock that the test moves.
  beforeEach(
    () => void vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] }),
  )
  afterEach(() => void vi.useRealTimers())

  it.each<[string, (name: string) => string | Record<string, string>]>([
    ['a bare limit', (name) => name],
    ['attributes', (name) => ({ key: name })],
  ])('leaves the part that fails alone: %s', async (_, asking) => {
    const limiter = createLimiter({ limit: '1000/min', store: parted() })
    for (let i = 0; i < 40; i++) {
      await limiter.check(asking('bob'))
      vi.advanceTimersByTime(1)
    }
    const answers = await Promise.all(['ann1', 'bob', 'carla'].map((n) => limiter.check(asking(n))))
    expect(answers.map(({ degraded }) => degraded)).toEqual([false, true, false])
  })

  it.each([
    ['the first', ['everyone', 'users']],
    ['the last', ['users', 'everyone']],
  ])('leaves it alone although all share %s rule', async (_, order) => {
    const asked: string[] = []
    const limiter = createLimiter({
      policy: {
        name: 'p',
        rules: order.map((name) => ({
          name,
          by: name === 'users' ? ['user'] : [],
          limit: '1000/min',
        })),
      },
      store: parted(asked),
    })
    const users = ['ann1', 'carla', 'bob', 'dorothy']
    for (let i = 0; i < 20; i++) {
      for (const user of users) await limiter.check({ user })
      vi.advanceTimersByTime(1)
    }
    asked.length = 0
    const answers = await Promise.all(users.map((user) => limiter.check({ user })))
    expect(answers.map(({ degraded }) => degraded)).toEqual([false, false, true, false])
    expect(asked).toHaveLength(3)
  })

  it('answers by the shards of the rules that apply, and rejects an empty key', async () => {
    const limiter = createLimiter({
      policy: {
        name: 'p',
        rules: [
          { name: 'guests', when: { user: 'absent' }, by: ['ip'], limit: '1000/min' },
          { name: 'users', by: ['user'], limit: '1000/min' },
        ],
      },
      store: parted(),
    })
    expect((await limiter.check({ user: 'bob', ip: '1' })).degraded).toBe(true)
    expect((await limiter.check({ ip: '1' })).degraded).toBe(false)
    expect((await limiter.check({})).reason).toBe('no-rule')
    await expect(limiter.check('')).rejects.toThrow('attributes are ""')
  })
})
