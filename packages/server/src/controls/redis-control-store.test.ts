import { describe, expect, it } from 'vitest'
import { RedisControlStore } from './redis-control-store.ts'

const NOT_SENT = "Stream isn't writeable and enableOfflineQueue options is false"

/** A client that fails with these messages first, one for each call. */
function clientFailing(...messages: string[]) {
  let calls = 0
  const client = {
    eval: async () => {
      calls += 1
      const message = messages.shift()
      if (message !== undefined) throw new Error(message)
      return 1
    },
  }
  return { client, calls: () => calls }
}

describe('controls in Redis', () => {
  it('are tried again while the client has no connection to the node', async () => {
    const { client, calls } = clientFailing(NOT_SENT, NOT_SENT)
    expect(await new RedisControlStore(client, 'sl:').remove('a')).toBe(true)
    expect(calls()).toBe(3)
  })

  it('are not tried again after an error of a command that may have been sent', async () => {
    const { client, calls } = clientFailing('Connection is closed.')
    await expect(new RedisControlStore(client, 'sl:').remove('a')).rejects.toThrow('closed')
    expect(calls()).toBe(1)
  })
})
