// What a count costs the server.
import { expect, it } from 'vitest'
import { lengthOf } from '../../../../test/length.ts'
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

/** Without the buffers of connections, which come and go. */
async function usedMemory(): Promise<number> {
  const info = await redis.server.cli('INFO', 'memory')
  const [all, clients] = ['used_memory', 'mem_clients_normal'].map((name) =>
    Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]),
  )
  return all! - clients!
}
