// An old primary that keeps its clients while another one has taken over: how much both admit together, and what ends it.
import { Redis } from 'ioredis'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startCluster } from '../../../../test/servers/redis-cluster.ts'
import { startSentinel } from '../../../../test/servers/redis-sentinel.ts'
import { startRedis } from '../../../../test/servers/redis-server.ts'
import type { Address } from '../../../../test/servers/resp.ts'
import { until } from '../../../../test/servers/until.ts'
import { limit } from '../../src/limit/limit.ts'
import { ioredisOptions } from '../../src/redis/index.ts'
import { redisStore } from '../../src/redis/redis-store.ts'
import { slotOf } from '../../src/redis/slot.ts'
import type { AsyncStore } from '../../src/stores/store.ts'

vi.setConfig({ testTimeout: 170_000 })

const QUOTA = 50
/** Units that both sides know to be spent when they part. */
const SPENT = 20
const KEY = 'key'
const check = { space: 'split', key: KEY, limit: limit({ quota: QUOTA, window: '1d' }), cost: 1 }
const APP = { username: 'app', password: 'secret' }

/** A client that stays with one server, and a store on it. */
function clientOf({ host, port }: Address, own: object = {}): { client: Redis; store: AsyncStore } {
  const client = new Redis(ioredisOptions({ host, port, ...own }))
  client.on('error', () => {})
  onTestFinished(() => client.disconnect())
  const options = { timeout: 2000, holdRefusals: 0, onWarning: () => {} }
  return { client, store: redisStore(client, options) }
}

/** Asks until the store refuses or fails; gives the units admitted and how it ended. */
async function drain(store: AsyncStore): Promise<{ admitted: number; end: string }> {
  for (let admitted = 0; ; admitted++) {
    try {
      const [verdict] = await store.take([check])
      if (!verdict!.allowed) return { admitted, end: 'refused' }
    } catch (error) {
      return { admitted, end: String((error as { cause?: unknown }).cause ?? error) }
    }
  }
}

async function spend(store: AsyncStore, units: number): Promise<void> {
  await until('the store answers', 20_000, async () => store.peek([check]))
  for (let i = 0; i < units; i++) expect((await store.take([check]))[0]!.allowed).toBe(true)
}

it('each side of a split admits what was left when they parted, once', async () => {
  const group = await startSentinel()
  onTestFinished(() => group.stop())
  const [old, next] = group.servers as [(typeof group.servers)[0], (typeof group.servers)[0]]
  await old.cli('ACL', 'SETUSER', APP.username, 'on', `>${APP.password}`, '~*', '&*', '+@all')
  const kept = clientOf(old, APP)
  await spend(kept.store, SPENT)
  await until('the replica has it', 20_000, async () => (await kept.client.wait(1, 1000)) === 1)
  // For everybody but the application, the old primary is gone.
  await kept.client.call('ACL', 'SETUSER', 'default', 'off')
  await kept.client.call('CLIENT', 'KILL', 'USER', 'default')
  await until('a sentinel begins', 20_000, () =>
    group.sentinels[0]!.cli('SENTINEL', 'FAILOVER', group.name),
  )
  await until('the other one is the primary', 20_000, async () => {
    const [role] = await next.cli<string[]>('ROLE')
    return role === 'master'
  })
  const moved = clientOf(next)
  await spend(moved.store, 0)
  const left = { admitted: QUOTA - SPENT, end: 'refused' }
  expect([await drain(kept.store), await drain(moved.store)]).toEqual([left, left])
  // The sentinels do this when they reach the old primary again: its own writes are dropped.
  await kept.client.replicaof(next.host, next.port)
  await until('it has the counts of the new one', 20_000, async () => {
    const [role, , , state] = (await kept.client.call('ROLE')) as string[]
    return role === 'slave' && state === 'connected'
  })
  expect((await drain(kept.store)).admitted).toBe(0)
  expect((await drain(moved.store)).admitted).toBe(0)
})

it('a primary that wants a replica admits nothing once it has been without one for its lag', async () => {
  const args = ['--min-replicas-to-write', '1', '--min-replicas-max-lag', '1']
  const old = await startRedis({ args })
  const replica = await startRedis({ args: ['--replicaof', old.host, `${old.port}`] })
  onTestFinished(async () => {
    await replica.stop()
    await old.stop()
  })
  const { store } = clientOf(old)
  let keys = 0
  // A key of its own each time: only what is charged is a write.
  const take = async () => store.take([{ ...check, key: `key ${keys++}` }])
  await until('it takes writes', 20_000, take)
  replica.kill('SIGSTOP')
  const end = await until('it takes no more', 20_000, async () => {
    try {
      await take()
      return false
    } catch (error) {
      return String((error as { cause?: unknown }).cause ?? error)
    }
  })
  replica.kill('SIGCONT')
  expect(end).toContain('NOREPLICAS')
})

it('a master that is cut off from its cluster admits nothing after the timeout of the nodes', async () => {
  const cluster = await startCluster()
  onTestFinished(() => cluster.stop())
  const master = await cluster.nodeFor(slotOf(`{${KEY}}`))
  const { store } = clientOf(master)
  await spend(store, SPENT)
  await cluster.setNodeTimeout(1500)
  for (const node of cluster.nodes) if (node !== master) node.kill('SIGSTOP')
  const end = await until('it takes no more', 20_000, async () => {
    const { end } = await drain(store)
    return end !== 'refused' && end
  })
  for (const node of cluster.nodes) if (node !== master) node.kill('SIGCONT')
  expect(end).toContain('CLUSTERDOWN')
})
