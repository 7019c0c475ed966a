// The admin API on a real Redis Cluster: keys of every node, and blocks for all instances.
import { expect, it, onTestFinished } from 'vitest'
import { startCluster } from '../../../../test/servers/redis-cluster.ts'
import { administered } from './admin.ts'

it('keys of all nodes are listed, and blocks and overrides are kept on one of them', async () => {
  const cluster = await startCluster()
  onTestFinished(() => cluster.stop())
  const store = { kind: 'redis', url: cluster.nodes[0]!.url, cluster: true, timeout: 2000 }
  const admin = await administered({ store })
  const users = Array.from({ length: 300 }, (_, i) => `user-${i}`)
  const checks = users.map((user) => ({ attributes: { user } }))
  await admin.post('/v1/check', { checks })
  const seen = new Set<string>()
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await admin.ask(`keys?limit=50${cursor === '' ? '' : `&cursor=${cursor}`}`)
    for (const { attributes } of body.keys) seen.add(attributes.user)
    cursor = body.cursor
  }
  expect(seen).toEqual(new Set(users))
  const ann = { attributes: { user: 'ann' } }
  const blocked = await admin.ask('block', { ...ann, for: '1min' })
  expect([blocked.status, blocked.body]).toMatchObject([200, {}])
  expect((await admin.post('/v1/check', ann)).body).toMatchObject({ reason: 'blocked' })
  expect((await admin.ask('unblock', ann)).status).toBe(200)
  expect((await admin.post('/v1/check', ann)).body.allowed).toBe(true)
})
