// A server that drops counts to make room: who knows that one was spent puts it back.
import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../servers/redis-server.ts'
import { configure } from '../configure.ts'
import type { Held } from '../figures.ts'
import { hotKey, type Orders, type PodRecord } from '../orders.ts'
import { type Place, type Scenario, TIMEOUT } from '../scenario.ts'

const FLOOD =
  "for i = 1, 200 do redis.call('SET', 'flood' .. ARGV[1] .. ':' .. i, ARGV[2]) end return 1"

async function open(): Promise<Place> {
  const server = await startRedis({
    args: ['--notify-keyspace-events', 'Ee', '--maxmemory-policy', 'allkeys-random'],
  })
  const { host, port } = server
  const dropped: string[] = []
  const listener = new Redis(server.url)
  await listener.subscribe('__keyevent@0__:evicted')
  listener.on('message', (_, name) => {
    if (name.includes(`{${hotKey}}`)) dropped.push(name)
  })

  /** A run in which the hot key's count was never dropped would show nothing. */
  const measure = (_: PodRecord, __: unknown, { prefix }: Orders): Held[] => {
    const times = dropped.filter((name) => name.startsWith(prefix)).length
    if (times === 0) throw new Error(`the count of ${prefix} was never dropped`)
    return [{ what: 'times dropped', value: times, most: Infinity }]
  }
  return {
    target: { kind: 'one', address: { host, port } },
    truth: async () => ({ kind: 'one', address: { host, port } }),
    measure,
    async fault({ begin, back, length }) {
      const info = await server.cli('INFO', 'memory')
      const room = Number(/used_memory:(\d+)/.exec(info)?.[1]) + 300_000
      begin()
      await configure(server, 'maxmemory', `${room}`)
      await flood(server, length)
      await configure(server, 'maxmemory', '0')
      back()
    },
    async stop() {
      listener.disconnect()
      await server.stop()
    },
  }
}

async function flood(server: RedisServer, length: number): Promise<void> {
  const end = performance.now() + length
  for (let round = 0; performance.now() < end; round++) {
    await server.cli('EVAL', FLOOD, '0', `${round}`, 'x'.repeat(500))
  }
}

export const eviction: Scenario = {
  name: 'eviction: allkeys-random and a flood',
  length: { test: 3000, full: 5000 },
  open,
  bounds: { fallback: 0, median: TIMEOUT },
}
