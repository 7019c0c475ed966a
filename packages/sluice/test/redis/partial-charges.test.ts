// Three rules on three masters, one of which hangs or is lost: afterwards every request is charged whole or not at all.
import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startCluster, type RedisCluster } from '../../../../test/servers/redis-cluster.ts'
import { isLong } from '../../../../test/length.ts'
import { stopIdle } from '../../../../test/servers/stop-idle.ts'
import { until } from '../../../../test/servers/until.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { slotOf } from '../../src/redis/slot.ts'
import type { Limiter } from '../../src/limiter/limiter.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import {
  ioredisClusterOptions,
  nodeRedisClusterOptions,
  redisStore,
  type RedisClient,
} from '../../src/redis/index.ts'

const NAMES = ['user', 'tenant', 'key'] as const
const QUOTA = 10

const policy = parsePolicy({
  name: 'p',
  rules: NAMES.map((name) => ({ name, by: [name], limit: `${QUOTA}/d` })),
})

/** A request whose three counts are its own, and how it was answered. */
interface Request {
  readonly id: string
  /** Sent before the old master knew that it is none any more. */
  readonly isEarly: boolean
  degraded?: boolean
}

const attributesOf = ({ id }: Pick<Request, 'id'>) =>
  Object.fromEntries(NAMES.map((name) => [name, `${name} ${id}`]))

function limiterOn(client: RedisClient, timeout: number): Limiter {
  const store = redisStore(client, { timeout, onWarning: () => {} })
  return createLimiter({ policy, store, resilience: { onEvent: () => {} } })
}

/** The limiters under load, and one that reads the counts when all is over. */
async function limitersOn(cluster: RedisCluster) {
  const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }))
  const rootNodes = nodes.map((socket) => ({ socket }))
  const clients = [
    new Cluster(nodes, ioredisClusterOptions()),
    createCluster(nodeRedisClusterOptions({ rootNodes })),
    new Cluster(nodes),
  ] as const
  for (const client of clients) client.on('error', () => {})
  await clients[1].connect()
  const [ioredis, nodeRedis, reader] = clients
  const limiters = [limiterOn(ioredis, 100), limiterOn(nodeRedis, 100), limiterOn(reader, 20_000)]
  onTestFinished(async () => {
    for (const limiter of limiters) await limiter.close()
    ioredis.disconnect()
    nodeRedis.destroy()
    reader.disconnect()
  })
  for (const limiter of limiters)
    await until('the store answers', 20_000, async () => {
      const { degraded } = await limiter.peek(attributesOf({ id: 'warm' }))
      return !degraded
    })
  return { loaded: limiters.slice(0, 2), reader: limiters[2]! }
}

/**
 * Requests of which some counts are charged and some are not. Two kinds are left out, which a failover makes and no client
 * can see: a charge of a killed master alone, whose reply was lost with the master; and a charge that the old master
 * confirmed and its replica never had.
 */
async function partial(
  reader: Limiter,
  requests: readonly Request[],
  { slots, isKilled }: { slots: ReadonlySet<number>; isKilled: boolean },
) {
  const isLost = (key: string): boolean => slots.has(slotOf(`{${key}}`))
  const counted = await Promise.all(
    requests.map(async (request) => {
      const { outcomes } = await reader.peek(attributesOf(request))
      const keysOf = (isCharged: boolean): string[] =>
        outcomes
          .filter(({ remaining }) => remaining < QUOTA === isCharged)
          .map(({ rule }) => `${rule} ${request.id}`)
      return { ...request, charged: keysOf(true), missing: keysOf(false) }
    }),
  )
  return counted.filter(({ charged, missing, isEarly, degraded }) => {
    if (charged.length === 0 || missing.length === 0) return false
    if (isKilled && charged.every(isLost)) return false
    return !(isEarly && degraded === false && missing.every(isLost))
  })
}

describe('a request over three masters', () => {
  it.each(isLong ? (['SIGSTOP', 'SIGKILL'] as const) : (['SIGSTOP'] as const))(
    'is charged whole or not at all, after %s of one of them',
    { timeout: 90_000 },
    async (signal) => {
      const cluster = await startCluster({ replicas: 1 })
      onTestFinished(() => cluster.stop())
      const { loaded, reader } = await limitersOn(cluster)
      await cluster.setNodeTimeout(1500)
      const requests: Request[] = []
      let isEarly = true
      const answers: Promise<void>[] = []
      const send = async (limiter: Limiter, request: Request): Promise<void> => {
        const { degraded } = await limiter.check(attributesOf(request))
        request.degraded = degraded
      }
      const load = setInterval(() => {
        for (const limiter of loaded) {
          for (let i = 0; i < 3; i++) {
            const request = { id: String(requests.length), isEarly }
            requests.push(request)
            answers.push(send(limiter, request))
          }
        }
      }, 20)
      onTestFinished(() => clearInterval(load))
      const byStore = (since: number) =>
        requests.slice(since).filter(({ degraded }) => degraded === false).length
      await until('requests were charged', 20_000, async () => byStore(0) > 100)
      const [lost] = cluster.nodes
      const slots = new Set(Array.from({ length: Math.floor(16_384 / 3) }, (_, slot) => slot))
      for (const slot of [0, slots.size - 1])
        expect((await cluster.nodeFor(slot)).port).toBe(lost!.port)
      if (signal === 'SIGSTOP') await stopIdle(lost!)
      else lost!.kill(signal)
      await until('a replica takes over', 30_000, async () => {
        const replicas = cluster.nodes.slice(3)
        const roles = await Promise.all(replicas.map((node) => node.cli<string[]>('ROLE')))
        return roles.some(([role]) => role === 'master')
      })
      if (signal === 'SIGSTOP') {
        lost!.kill('SIGCONT')
        await until('the old master is a replica', 30_000, async () => {
          const [role] = await lost!.cli<string[]>('ROLE')
          return role === 'slave'
        })
      }
      isEarly = false
      const since = requests.length
      await until('the store answers again', 30_000, async () => byStore(since) > 100)
      clearInterval(load)
      await Promise.all(answers)
      let left: unknown
      await until('no request is charged in part', 15_000, async () => {
        const found = await partial(reader, requests, { slots, isKilled: signal === 'SIGKILL' })
        left = found
        return found.length === 0
      }).catch(() => {})
      expect(left).toEqual([])
      expect(requests.filter(({ degraded }) => degraded === true).length).toBeGreaterThan(0)
    },
  )
})
