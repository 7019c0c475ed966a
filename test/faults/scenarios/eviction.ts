// A server that drops counts to make room: what is dropped starts afresh, and no more than that.
import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../servers/redis-server.ts'
import { configure } from '../configure.ts'
import type { Held } from '../figures.ts'
import { ALLOWED, DEGRADED, hotKey, type Orders, type PodRecord } from '../orders.ts'
import { type Place, QUOTA, type Scenario, TIMEOUT } from '../scenario.ts'

const FLOOD =
  "for i = 1, 200 do redis.call('SET', 'flood' .. ARGV[1] .. ':' .. i, ARGV[2]) end return 1"

async function open(): Promise<Place> {
  const server = await startRedis({ args: ['--notify-keyspace-events', 'Ee'] })
  const { host, port } = server
  const dropped: string[] = []
  const listener = new Redis(server.url)
  await listener.subscribe('__keyevent@0__:evicted')
  listener.on('message', (_, name) => {
    if (name.includes(`{${hotKey}}`)) dropped.push(name)
  })

  /** Every time that the server drops the hot key's count it gives one quota more. */
  const measure = ({ key, answer }: PodRecord, _: unknown, { prefix }: Orders): Held[] => {
    const admitted = answer.filter(
      (one, i) => key[i]! < 0 && (one & (ALLOWED | DEGRADED)) === ALLOWED,
    ).length
    const times = dropped.filter((name) => name.startsWith(prefix)).length
    const most = (1 + times) * QUOTA
    return [{ what: `units, the count dropped ${times} times`, value: admitted, most }]
  }
  return {
    target: { kind: 'one', address: { host, port } },
    truth: async () => ({ kind: 'one', address: { host, port } }),
    measure,
    async fault({ begin, back, length }) {
      const info = await server.cli('INFO', 'memory')
      const room = Number(/used_memory:(\d+)/.exec(info)?.[1]) + 300_000
      begin()
      await configure(server, 'maxmemory-policy', 'allkeys-random')
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
  // How often it starts afresh is counted above.
  bounds: { again: Infinity, fallback: 0, median: TIMEOUT },
}
