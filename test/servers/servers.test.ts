// Proves the servers that other tests start: each really runs, fails the way it is told to, and leaves nothing behind.
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findValkey } from './binaries.ts'
import { createGuard, spawnGuarded } from './guarded-process.ts'
import { orphanServer } from './orphan.ts'
import { startSentinel } from './redis-sentinel.ts'
import { type RedisOptions, startRedis } from './redis-server.ts'
import { until } from './until.ts'

const minute = 60_000

/** Starts a server that is stopped at the end of the test. */
async function redis(options?: RedisOptions) {
  const server = await startRedis(options)
  onTestFinished(server.stop)
  return server
}

function isRunning(pid: number) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Whether a process has ended that nothing has waited for yet, as orphans in a container. */
function isDefunct(pid: number) {
  const path = `/proc/${pid}/stat`
  return existsSync(path) && /\) Z /.test(readFileSync(path, 'utf8'))
}

describe('one server', { timeout: minute }, () => {
  test('answers with parsed replies and errors', async () => {
    const server = await redis()
    expect(await server.cli('PING')).toBe('PONG')
    expect(await server.cli('SET', 'greeting', 'héllo\r\n')).toBe('OK')
    expect(await server.cli('GET', 'greeting')).toBe('héllo\r\n')
    expect(await server.cli('GET', 'absent')).toBe(null)
    expect(await server.cli<number>('INCR', 'count')).toBe(1)
    const nested = await server.cli('EVAL', "return {1, 'two', {}, false}", '0')
    expect(nested).toEqual([1, 'two', [], null])
    const long = 'x'.repeat(300_000)
    await server.cli('SET', 'long', long)
    expect(await server.cli('GET', 'long')).toBe(long)
    await expect(server.cli('INCR', 'greeting')).rejects.toThrow(/^ERR value is not an integer/)
  })

  test('gives its password when it has one', async () => {
    const server = await redis({ args: ['--requirepass', 'secret'] })
    expect(await server.cli('PING')).toBe('PONG')
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
    await server.restart(['--appendonly', 'no'])
    expect(await server.cli('GET', 'kept')).toBe(null)
  })

  test('hangs while paused, then answers what it was asked', async () => {
    const [server, other] = [await redis(), await redis()]
    server.kill('SIGSTOP')
    let answered = false
    const answer = server.cli<number>('INCR', 'count').finally(() => (answered = true))
    for (let count = 0; count < 5; count++) await other.cli('PING')
    expect(answered).toBe(false)
    server.kill('SIGCONT')
    expect(await answer).toBe(1)
  })

  test('stops even when paused, twice, and takes its folder along', async () => {
    const server = await redis()
    const [, dir] = await server.cli<[string, string]>('CONFIG', 'GET', 'dir')
    expect(existsSync(dir)).toBe(true)
    server.kill('SIGSTOP')
    await Promise.all([server.stop(), server.stop()])
    await server.stop()
    expect(isRunning(server.pid)).toBe(false)
    expect(existsSync(dir)).toBe(false)
    expect(server.log()).toContain('Ready to accept connections')
    await expect(server.restart()).rejects.toThrow('was stopped')
  })

  test('says why it did not start', async () => {
    const { port } = await redis()
    await expect(startRedis({ port })).rejects.toThrow('Address already in use')
    await expect(startRedis({ args: ['--no-such-thing', '1'] })).rejects.toThrow('no-such-thing')
    await expect(startRedis({ binary: '/no/such/server' })).rejects.toThrow(
      '/no/such/server did not start',
    )
  })

  test('ends with the process that started it, even a killed one', async () => {
    const { pid, dir } = await orphanServer()
    await until('the server ends', 5000, async () => !isRunning(pid) && !existsSync(dir))
    expect(isRunning(pid)).toBe(false)
  })
})

test('the children of a guarded process end with it', { timeout: minute }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-guarded-'))
  const guard = createGuard(folder)
  const logFile = join(folder, 'output.log')
  const script = 'sleep 600 & echo $! && wait'
  const parent = await spawnGuarded(guard, 'sh', ['-c', script], { cwd: folder, logFile })
  const childIn = () => Number(readFileSync(logFile, 'utf8'))
  await until('the child has started', minute, async () => childIn() > 0)
  const child = childIn()
  expect([isRunning(parent.pid), isRunning(child)]).toEqual([true, true])
  await guard.release()
  const hasEnded = (pid: number) => !isRunning(pid) || isDefunct(pid)
  await until('both have ended', minute, async () => hasEnded(parent.pid) && hasEnded(child))
  expect(existsSync(folder)).toBe(false)
})

test('Valkey runs in the place of Redis', { timeout: 2 * minute }, async (context) => {
  const valkey = await findValkey()
  // Where the machine can install packages there is no excuse.
  const required = process.getuid?.() === 0 && existsSync('/etc/debian_version')
  if (valkey.path === undefined && !required) context.skip(valkey.reason)
  expect(valkey).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
  const server = await redis({ binary: 'valkey' })
  const info = await server.cli('INFO', 'server')
  expect(valkey).toMatchObject({ version: /valkey_version:(\S+)/.exec(info)?.[1] })
})

test('sentinels promote a replica when the primary dies', { timeout: minute }, async () => {
  const group = await startSentinel()
  onTestFinished(group.stop)
  expect(group.sentinels).toHaveLength(3)
  const [first, second] = group.servers
  expect(await group.primary()).toBe(first)

  const milliseconds = await group.failover()
  // Not before they could have noticed.
  expect(milliseconds).toBeGreaterThan(500)
  expect(await group.primary()).toBe(second)
  expect(await second?.cli('SET', 'key', 'after')).toBe('OK')
  await expect(first?.cli('PING')).rejects.toThrow('ECONNREFUSED')

  await group.stop()
  const all = [...group.servers, ...group.sentinels]
  expect(all.filter(({ pid }) => isRunning(pid))).toEqual([])
})
