// What a count costs the server.
import { expect, it } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
import { limit } from '../../src/limit/limit.ts'
import { on, patientStore, takeOne } from './asking.ts'
import { oneServer } from './one-server.ts'

const KEYS = lengthOf(30_000, 100_000)
const redis = oneServer()

it.each(['token-bucket', 'sliding-window'] as const)(
  'a count of %s is at most 170 bytes of the server’s memory',
  async (algorithm) => {
    await redis.server.cli('FLUSHALL')
    const store = patientStore(redis.client)
    await takeOne(store, on('first', '100/min', { algorithm }))
    const before = await usedMemory()
    for (let i = 0; i < KEYS; i += 500) {
      const keys = Array.from({ length: 500 }, (_, j) => `user:${12_345_678 + i + j}`)
      await Promise.all(keys.map((key) => takeOne(store, on(key, '100/400d', { algorithm }))))
    }
    const perKey = ((await usedMemory()) - before) / KEYS
    expect(await redis.server.cli<number>('DBSIZE')).toBeGreaterThanOrEqual(KEYS)
    process.stdout.write(`${algorithm}: ${perKey.toFixed(1)} bytes for each count\n`)
    expect(perKey).toBeLessThanOrEqual(170)
  },
  120_000,
)

it.each([
  ['1min', 1_000_000],
  ['1h', 1_000_000],
  ['1d', 10_000_000],
  ['30d', 1_000_000],
] as const)(
  'a full count of 32 stamps in %s is at most 250 bytes, whatever the quota',
  async (window, quota) => {
    await redis.server.cli('FLUSHALL')
    const store = patientStore(redis.client)
    const made = limit({ algorithm: 'sliding-log', quota, window, stamps: 32 })
    const before = await usedMemory()
    const count = 4096
    for (let i = 0; i < count; i += 512) {
      const keys = Array.from({ length: 512 }, (_, j) => `user:${12_345_678 + i + j}`)
      const checks = keys.map((key) => ({ space: 'stamps', key, limit: made, cost: quota }))
      await Promise.all(checks.map((check) => takeOne(store, check)))
    }
    const perKey = ((await usedMemory()) - before) / count
    const name = await redis.server.cli<string>('RANDOMKEY')
    const usage = await redis.server.cli<number>('MEMORY', 'USAGE', name)
    process.stdout.write(
      `stamps in ${window}: ${usage} bytes, ${perKey.toFixed(1)} with the server’s tables\n`,
    )
    expect(usage).toBeLessThanOrEqual(250)
  },
)

/** Without the buffers of connections, which come and go. */
async function usedMemory(): Promise<number> {
  const info = await redis.server.cli('INFO', 'memory')
  const [all, clients] = ['used_memory', 'mem_clients_normal'].map((name) =>
    Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]),
  )
  return all! - clients!
}
