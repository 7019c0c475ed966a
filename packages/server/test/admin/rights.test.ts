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

const policies = [
  { name: 'api', rules: [{ name: 'per-user', by: ['user'], limit: '5/h' }] },
  {
    name: 'budget',
    rules: [
      { name: 'tokens', by: ['team'], limit: '1000/h', hold: '60s' },
      { name: 'at-once', by: ['team'], concurrency: 2, hold: '30s' },
    ],
  },
  {
    name: 'leased',
    rules: [{ name: 'fast', by: ['user'], limit: '100000/s', coordination: 'leased' }],
  },
  {
    name: 'logs',
    rules: [
      { name: 'log', by: ['user'], limit: { quota: 2, window: '1h', algorithm: 'sliding-log' } },
      {
        name: 'lock',
        by: ['user', 'kind'],
        limit: '1/h',
        lockout: { for: '1min', after: 1 },
        candidate: '2/h',
      },
    ],
  },
]

test('the documented user can count, hold, lease, block, override, list keys, look back and reset', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const root = new Redis(redis.url)
  onTestFinished(() => root.disconnect())
  await root.call('ACL', ...rule.split(' '))
  const { host } = new URL(redis.url)
  const store = { kind: 'redis', url: `redis://sluice:password@${host}`, timeout: '5s' }
  const { ask, post, logged } = await administered({ store, policies })
  await until('Redis answers', 10_000, async () => {
    const { body } = await post('/v1/check', {
      policy: 'api',
      attributes: { user: 'ann', ip: '192.0.2.1' },
    })
    return (body as { degraded?: boolean }).degraded === false
  })
  const attributes = { team: 'red' }
  const held = async (name: string, body: object) => {
    const answer = await post(`/v1/${name}`, { policy: 'budget', ...body })
    expect([name, answer.status]).toEqual([name, 200])
    expect(JSON.stringify(answer.body)).not.toMatch(/degraded":true|"degraded"[,}]|pending/)
    return (answer.body as unknown as { id: string }).id
  }
  const id = await held('reserve', { attributes, estimate: 10 })
  await held('extend', { id })
  await held('settle', { id, actual: 7 })
  await held('cancel', { id: await held('reserve', { attributes, estimate: 10 }) })
  await held('leave', { id: await held('enter', { attributes }) })
  const checked = async (policy: string, attributes: object) => {
    const { body } = await post('/v1/check', { policy, attributes })
    // Redis has just started, and leases nothing yet.
    const { cause } = body as { cause?: string }
    expect([policy, 'store-learning', undefined]).toContain(cause)
  }
  for (let i = 0; i < 3; i++) {
    await checked('leased', { user: 'ann' })
    await checked('logs', { user: 'ann', kind: 'login' })
    await post('/v1/refund', { policy: 'api', attributes: { user: 'ann' } })
  }
  for (const view of [
    'keys',
    'keys/top',
    'why?attribute=user%3Dann',
    'doctor',
    'candidates',
    'store',
    'state',
  ])
    expect([view, (await ask(view)).status]).toEqual([view, 200])
  const override = { policy: 'api', rule: 'per-user', when: { user: 'ann' } }
  expect((await ask('set-override', { ...override, limit: '7/h' })).status).toBe(200)
  expect((await ask('remove-override', override)).status).toBe(200)
  expect((await ask('block', { attributes: { user: 'ann' }, for: '1min' })).status).toBe(200)
  expect((await ask('unblock', { attributes: { user: 'ann' } })).status).toBe(200)
  expect((await ask('reset', { policy: 'api', attributes: { user: 'ann' } })).status).toBe(200)
  expect(
    (await ask('grant', { policy: 'api', attributes: { user: 'ann' }, units: 1 })).status,
  ).toBe(200)
  // What the processes of a fleet tell each other goes to Redis once in a while.
  await until('the fleet has written', 15_000, async () =>
    (await root.keys('*')).some((key) => key.includes('seen') || key.includes('fleet')),
  )
  expect(logged().filter(({ error }) => String(error).includes('NOPERM'))).toEqual([])
  const denied = (await root.call('ACL', 'LOG')) as unknown[]
  expect(denied).toEqual([])
})
