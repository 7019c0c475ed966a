// Every client that knows sentinels, on a primary with a replica.
import { afterAll, beforeAll } from 'vitest'
import { startSentinel, type RedisSentinel } from '../../../../test/servers/redis-sentinel.ts'
import { sentinel } from './clients.ts'
import { conforms } from './conformance.ts'
import { everyKeyExpires } from './keys-expire.ts'

let servers: RedisSentinel
beforeAll(async () => {
  servers = await startSentinel()
}, 60_000)
afterAll(() => servers.stop())
everyKeyExpires(() => servers.servers)

for (const [name, connect] of Object.entries(sentinel)) conforms(name, connect, () => servers)
