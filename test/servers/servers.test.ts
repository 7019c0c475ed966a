// Proves the servers that other tests start: each really runs, fails the way it is told to, and leaves nothing behind.
import { afterEach, describe, expect, test } from 'vitest'
import { type RedisOptions, startRedis } from './redis-server.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()))
})

/** Starts a server that is stopped after the test. */
async function redis(options?: RedisOptions) {
  const server = await startRedis(options)
  cleanups.push(server.stop)
  return server
}

describe('one server', () => {
  test('answers with parsed replies and errors', async () => {
    const server = await redis()
    expect(await server.cli('PING')).toBe('PONG')
    expect(await server.cli('SET', 'greeting', 'héllo\r\n')).toBe('OK')
    expect(await server.cli('GET', 'greeting')).toBe('héllo\r\n')
    expect(await server.cli('GET', 'absent')).toBe(null)
    expect(await server.cli<number>('INCR', 'count')).toBe(1)
    expect(await server.cli('EVAL', "return {1, 'two', {}, false}", '0')).toEqual([
      1,
      'two',
      [],
      null,
    ])
    await expect(server.cli('INCR', 'greeting')).rejects.toThrow(/^ERR value is not an integer/)
  })

  test('keeps its data over a restart with an append-only file', async () => {
    const server = await redis({ args: ['--appendonly', 'yes'] })
    await server.cli('SET', 'kept', 'yes')
    const { pid, port } = server
    server.kill('SIGKILL')
    await server.restart()
    expect(await server.cli('GET', 'kept')).toBe('yes')
    expect(server.pid).not.toBe(pid)
    expect(server.port).toBe(port)
    await server.restart([])
    expect(await server.cli('GET', 'kept')).toBe(null)
  })

  test('hangs when stopped by a signal, and goes on', async () => {
    const server = await redis()
    server.kill('SIGSTOP')
    let answered = false
    const answer = server.cli('INCR', 'count').finally(() => (answered = true))
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(answered).toBe(false)
    server.kill('SIGCONT')
    expect(await answer).toBe(1)
  })
})
