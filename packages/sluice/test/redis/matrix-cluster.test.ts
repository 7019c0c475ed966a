// Every client on a cluster of three nodes.
import { afterAll, beforeAll } from 'vitest'
import { startCluster, type RedisCluster } from '../../../../test/servers/redis-cluster.ts'
import { cluster } from './clients.ts'
import { conforms } from './conformance.ts'
import { everyKeyExpires } from './keys-expire.ts'

let servers: RedisCluster
beforeAll(async () => {
  servers = await startCluster()
}, 60_000)
afterAll(() => servers.stop())
everyKeyExpires(() => servers.nodes)

for (const [name, connect] of Object.entries(cluster)) conforms(name, connect, () => servers.nodes)
