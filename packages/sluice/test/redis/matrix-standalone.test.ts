// Every client on one server, Redis and Valkey.
import { afterAll, beforeAll, describe } from 'vitest'
import { findValkey } from '../../../../test/servers/binaries.ts'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { standalone } from './clients.ts'
import { conforms } from './conformance.ts'
import { everyKeyExpires } from './keys-expire.ts'

const valkey = await findValkey()
const why = valkey.path === undefined ? ` (skipped: ${valkey.reason})` : ` ${valkey.version}`

describe.each([
  ['Redis', 'redis', false],
  [`Valkey${why}`, 'valkey', valkey.path === undefined],
])('%s', (_, binary, isMissing) => {
  describe.skipIf(isMissing)('through', () => {
    let server: RedisServer
    beforeAll(async () => {
      server = await startRedis({ binary })
    }, 30_000)
    afterAll(() => server.stop())
    everyKeyExpires(() => [server])
    for (const [name, connect] of Object.entries(standalone)) conforms(name, connect, () => server)
  })
})
