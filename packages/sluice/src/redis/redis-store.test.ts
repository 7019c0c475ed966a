import { describe, expect, it } from 'vitest'
import { SluiceError } from '../errors.ts'
import type { RedisClient } from './client.ts'
import { redisStore, type RedisStoreOptions } from './redis-store.ts'

const client = { customCommand: () => Promise.resolve([]) }
function mistake(client: unknown, options: unknown): SluiceError {
  try {
    redisStore(client as RedisClient, options as RedisStoreOptions)
  } catch (error) {
    return error as SluiceError
  }
  throw new Error('accepted')
}

describe('redisStore', () => {
  it.each([
    [undefined, {}, /client is undefined; accepted: a client of ioredis/],
    [null, {}, /client is null/],
    ['redis://localhost', {}, /client is "redis:/],
    [{}, {}, /client is {}/],
    [{ evalsha: true }, {}, /client is/],
    [client, { prefix: 'a{b' }, /prefix is "a{b"; accepted: a string without { and }/],
    [client, { prefix: 7 }, /prefix is 7/],
    [client, { prefix: 'p'.repeat(33) }, /prefix is "p+"; accepted: .* at most 32/],
    [client, { timeout: 0 }, /timeout is 0; accepted: whole milliseconds/],
    [client, { timeout: 1.5 }, /timeout is 1.5/],
    [client, { timeout: 2 ** 31 }, /timeout is 2147483648/],
    [client, { timeout: Number.NaN }, /timeout is NaN/],
    [client, { holdRefusals: -1 }, /holdRefusals is -1; accepted: whole milliseconds, 0 or more/],
    [client, { holdRefusals: false }, /holdRefusals is false/],
    [client, { holdRefusals: Infinity }, /holdRefusals is Infinity/],
    [client, { timeout: '100' }, /timeout is "100"/],
    [client, { cluster: 'yes' }, /cluster is "yes"/],
    [client, { clock: 5 }, /clock is 5/],
    [client, { onWarning: 'log' }, /onWarning is "log"/],
  ])('refuses %j with %j', (client, options, message) => {
    const error = mistake(client, options)
    expect(error).toBeInstanceOf(SluiceError)
    expect(error.code).toBe('invalid-option')
    expect(error.message).toMatch(message)
  })

  it('sends nothing until it is asked something', async () => {
    let calls = 0
    const store = redisStore({ customCommand: () => Promise.resolve((calls += 1)) })
    await store.take([])
    await store.peek([])
    await store.refund([])
    await store.reset([])
    await store.close()
    await store.close()
    expect(calls).toBe(0)
  })
})
