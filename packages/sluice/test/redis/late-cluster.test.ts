// A process that starts while its cluster is not complete: a second connection is tried, and ends when the cluster is whole.
import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { startCluster, type RedisCluster } from '../../../../test/servers/redis-cluster.ts'
import { until } from '../../../../test/servers/until.ts'
import { createLimiter } from '../../src/index.ts'
import {
  ioredisClusterOptions,
  nodeRedisClusterOptions,
  redisStore,
  type RedisClient,
} from '../../src/redis/index.ts'
import { nothingUnhandled } from './asking.ts'

const ignore = (): void => {}
/** Keys of every node. */
const KEYS = Array.from({ length: 24 }, (_, i) => `key ${i}`)

let cluster: RedisCluster
nothingUnhandled()
beforeAll(async () => {
  cluster = await startCluster({ nodeTimeout: 1000 })
}, 60_000)
afterAll(() => cluster.stop())

/** As much of a client as the test looks at. */
type ClusterClient = RedisClient & {
  readonly status?: string
  readonly isOpen?: boolean
  duplicate(...overrides: never[]): unknown
}

const kinds: Readonly<Record<string, () => ClusterClient>> = {
  ioredis: () => {
    const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }))
    const client = new Cluster(nodes, ioredisClusterOptions()).on('error', ignore)
    onTestFinished(() => client.disconnect())
    return client
  },
  'node-redis': () => {
    const rootNodes = cluster.nodes.map(({ host, port }) => ({ socket: { host, port } }))
    const client = createCluster(nodeRedisClusterOptions({ rootNodes })).on('error', ignore)
    client.connect().catch(ignore)
    onTestFinished(() => client.destroy())
    return client
  },
}

it.each(Object.keys(kinds))(
  'through a client of %s',
  async (kind) => {
    const [lost, ...others] = cluster.nodes
    lost!.kill('SIGKILL')
    await until('the others miss it', 30_000, async () => {
      const states = await Promise.all(others.map((node) => node.cli<string>('CLUSTER', 'INFO')))
      return states.every((state) => state.includes('cluster_state:fail'))
    })
    const client = kinds[kind]!()
    const copies: ClusterClient[] = []
    const duplicate = client.duplicate.bind(client)
    client.duplicate = (...overrides) => {
      const copy = duplicate(...overrides) as ClusterClient
      copies.push(copy)
      return copy
    }
    const limiter = createLimiter({ limit: '1000/day', store: redisStore(client) })
    onTestFinished(() => limiter.close())
    const isAnswered = async (): Promise<boolean> => {
      const decisions = await Promise.all(KEYS.map((key) => limiter.check(key)))
      return decisions.every(({ degraded }) => !degraded)
    }
    await until('a second connection is tried', 20_000, async () => {
      expect(await isAnswered()).toBe(false)
      return copies.length > 0
    })
    await lost!.restart()
    await until('the store answers for every node', 30_000, isAnswered)
    // A cluster of ioredis that was told to close, or never stood, says so in one of three words.
    const isOpen = (copy: ClusterClient): boolean => copy.isOpen ?? copy.status === 'ready'
    const isAlone = await until('it answers through the client alone', 30_000, async () => {
      const isWell = await isAnswered()
      return isWell && !copies.some(isOpen)
    })
    expect(isAlone).toBe(true)
  },
  120_000,
)
