// Nothing of a request's async context outlives the request: what it carries can be collected while the limiter lives.
import { AsyncLocalStorage } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { createLimiter } from '../src/limiter/create-limiter.ts'
import type { Policy } from '../src/policy/policy.ts'
import { memoryStore } from '../src/stores/memory/memory-store.ts'
import type { Store } from '../src/stores/store.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const storage = new AsyncLocalStorage<object>()

/** Runs a call in a context of its own; returns all that is left of the context's value. */
function inContext(call: () => unknown): WeakRef<object> {
  const value = { request: 'large' }
  storage.run(value, call)
  return new WeakRef(value)
}

async function isCollected(value: WeakRef<object>): Promise<boolean> {
  for (let i = 0; i < 10; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
    if (value.deref() === undefined) return true
  }
  return false
}

const policy: Policy = {
  name: 'test',
  rules: [
    { name: 'user', by: ['user'], limit: '5/s' },
    { name: 'log', by: ['user'], limit: { quota: 5, window: '1s', algorithm: 'sliding-log' } },
    { name: 'all', by: [], limit: '1000/s', shadow: true },
  ],
}

it('sees what a timer made in the context keeps', async () => {
  let timer: ReturnType<typeof setInterval> | undefined
  const value = inContext(() => (timer = setInterval(() => {}, 60_000)))
  expect(await isCollected(value)).toBe(false)
  clearInterval(timer)
})

describe('a limiter keeps nothing of the context of', () => {
  const bare = createLimiter({ limit: '5/s' })
  const ruled = createLimiter({ policy })
  const remoteStore = memoryStore()
  const remote = createLimiter({
    policy,
    store: {
      take: async (checks) => remoteStore.take(checks),
      peek: async (checks) => remoteStore.peek(checks),
      refund: async (checks) => remoteStore.refund(checks),
      reset: async (checks) => remoteStore.reset(checks),
      close: async () => remoteStore.close(),
    } satisfies Store,
  })
  const fail = async (): Promise<never> => {
    throw new Error('unreachable')
  }
  const failing = createLimiter({
    policy,
    store: { take: fail, peek: fail, refund: fail, reset: fail, close: fail } satisfies Store,
    resilience: { onEvent: () => {} },
  })
  const user = { user: 'a' }

  it.each<[what: string, call: () => unknown]>([
    ['the first check of a key', () => bare.check('a')],
    ['the next check', () => bare.check('a')],
    ['a check by rules', () => ruled.check(user)],
    ['a refusal', () => ruled.check(user, 6)],
    ['a peek', () => ruled.peek(user)],
    ['a refund', () => ruled.refund(user)],
    ['a reset', () => ruled.reset(user)],
    ['a check by promises', () => remote.check(user)],
    ['a check that the fallback answers', () => failing.check(user)],
    ['a mistake', () => expect(() => ruled.check('')).toThrow('attributes are')],
    [
      'so many checks that they share the time',
      () => {
        for (let i = 0; i < 20_000; i++) bare.check('busy')
      },
    ],
    [
      'so many keys that the store grows',
      () => {
        for (let i = 0; i < 40_000; i++) bare.check(`key:${i}`)
      },
    ],
  ])('%s', async (_, call) => {
    expect(await isCollected(inContext(call))).toBe(true)
  })
})
