import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FaultProxy, startProxy } from '../../../../test/faults/fault-proxy.ts'
import { type RedisServer, startRedis } from '../../../../test/servers/redis-server.ts'
import { createLog } from '../log/log.ts'
import { openStore } from './open-store.ts'

let server: RedisServer
let proxy: FaultProxy
beforeAll(async () => {
  server = await startRedis()
  proxy = await startProxy(server)
}, 30_000)
afterAll(async () => {
  await proxy.stop()
  await server.stop()
})

const log = createLog('silent')
const redis = () => ({
  kind: 'redis' as const,
  url: `redis://127.0.0.1:${proxy.port}`,
  prefix: 'sl:',
  timeout: 100,
  cluster: false,
})

describe('an opened store is ready', () => {
  test('at once, if it is in this process', async () => {
    const opened = openStore({ kind: 'memory', maxKeys: 10 }, log)
    expect(await opened.ready(0)).toBe(true)
    await opened.close()
  })

  test('when its client has connected, and not before', async () => {
    proxy.set({ toClient: { hold: true } })
    const opened = openStore(redis(), log)
    expect(await opened.ready(10)).toBe(false)
    proxy.set({})
    expect(await opened.ready(20_000)).toBe(true)
    expect(await opened.ready(0)).toBe(true)
    await opened.close()
  })
})
