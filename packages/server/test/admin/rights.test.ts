// The rights in Redis that the documents name are enough for everything the service does there.
import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { administered } from './admin.ts'

const page = readFileSync(
  new URL('../../../../docs/reference/service/admin.md', import.meta.url),
  'utf8',
)
const rule = /^ACL (SETUSER sluice .*)$/m.exec(page)![1]!

test('the documented user can count, block, unblock, list keys and reset', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const root = new Redis(redis.url)
  onTestFinished(() => root.disconnect())
  await root.call('ACL', ...rule.split(' '))
  const { host } = new URL(redis.url)
  const store = { kind: 'redis', url: `redis://sluice:password@${host}`, timeout: '5s' }
  const { ask, post, logged } = await administered({ store })
  await until('Redis answers', 10_000, async () => {
    const { body } = await post('/v1/check', { attributes: { user: 'ann', ip: '192.0.2.1' } })
    return (body as { degraded?: boolean }).degraded === false
  })
  expect((await ask('keys')).status).toBe(200)
  expect((await ask('block', { attributes: { user: 'ann' }, for: '1min' })).status).toBe(200)
  expect((await ask('unblock', { attributes: { user: 'ann' } })).status).toBe(200)
  expect((await ask('reset', { attributes: { user: 'ann' } })).status).toBe(200)
  expect(logged().filter(({ error }) => String(error).includes('NOPERM'))).toEqual([])
  const denied = (await root.call('ACL', 'LOG')) as unknown[]
  expect(denied).toEqual([])
})
