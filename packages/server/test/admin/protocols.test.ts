// What is blocked is refused on every protocol; overrides hold on every protocol, through reloads and in a fleet.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startRedis } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { OVER } from '../envoy/client.ts'
import { grpcJsClient } from '../envoy/grpc-js-client.ts'
import { running } from '../running.ts'
import { administered, folder, policies, type Admin } from './admin.ts'

const ann = { attributes: { user: 'ann' } }

function grpcOf({ listeners }: Pick<Admin, 'listeners'>) {
  const { url } = listeners.find(({ name }) => name === 'grpc')!
  const client = grpcJsClient(url.replace('http://', ''))
  onTestFinished(() => client.close())
  return (domain: string, ...users: string[]) =>
    client.ask({ domain, descriptors: users.map((user) => ({ entries: [['user', user]] })) })
}

describe('a refusal', () => {
  it('has its id in the body and, where the file names one, in a header field, for sluice why', async () => {
    const rule = { name: 'per-address', by: ['ip'], limit: '1/h' }
    const admin = await administered({
      policies: [{ name: 'api', rules: [rule] }],
      decisionIdHeader: 'Decision-Id',
      listeners: { proxy: { port: 0, upstream: 'http://127.0.0.1:1' } },
    })
    const proxy = admin.listeners.find(({ name }) => name === 'proxy')!.url
    const uri = { 'x-forwarded-uri': '/', 'x-original-uri': '/' }
    const places = [
      () => fetch(proxy),
      () => fetch(`${admin.url}/v1/auth/caddy`, { headers: uri }),
      () => fetch(`${admin.url}/v1/auth/traefik`, { headers: uri }),
    ]
    const first = await places[0]!()
    expect([first.status, first.headers.has('decision-id')]).toEqual([502, false])
    for (const [i, ask] of places.entries()) {
      const refused = await ask()
      const id = refused.headers.get('decision-id')!
      expect(await refused.json()).toMatchObject({ status: 429, 'decision-id': id })
      const { body } = await admin.ask(`why?id=${id}`)
      expect(body.refusals).toMatchObject([{ rule: 'per-address', count: i + 1 }])
    }
  })

  it('has no such header field where the file names none', async () => {
    const rule = { name: 'all', by: [], limit: '1/h' }
    const admin = await administered({ policies: [{ name: 'api', rules: [rule] }] })
    const ask = () => fetch(`${admin.url}/v1/auth/caddy`, { headers: { 'x-forwarded-uri': '/' } })
    await ask()
    const refused = await ask()
    const body = (await refused.json()) as Record<string, unknown>
    expect(body['decision-id']).toMatch(/^[\w-]{23}$/)
    expect([...refused.headers.values()]).not.toContain(body['decision-id'])
  })
})

describe('a block', () => {
  it('refuses on gRPC, by policies and by descriptors, with the time that is left', async () => {
    const path = join(folder(), 'shop.yaml')
    writeFileSync(
      path,
      'domain: shop\ndescriptors: [{ key: user, rate_limit: { unit: hour, requests_per_unit: 9 } }]\n',
    )
    const admin = await administered({
      listeners: { grpc: { port: 0 } },
      envoy: { files: [path] },
    })
    const ask = grpcOf(admin)
    await admin.ask('block', { ...ann, for: '1min' })
    for (const domain of ['api', 'shop']) {
      const refused = await ask(domain, 'ann')
      expect(refused).toMatchObject({ status: 0, code: OVER })
      const [status] = refused.statuses!
      expect(status!.code).toBe(OVER)
      expect(status!.reset).toBeGreaterThan(55)
      expect(refused.headers).toEqual([['Retry-After', expect.stringMatching(/^(5\d|60)$/)]])
      expect((await ask(domain, 'bob')).code).not.toBe(OVER)
      // What the others of the request took is handed back, or was never taken.
      const both = await ask(domain, 'eve', 'ann')
      expect(both.code).toBe(OVER)
      expect((await ask(domain, 'eve')).statuses![0]!.remaining).toBe(domain === 'api' ? 4 : 8)
    }
    await admin.ask('unblock', ann)
    expect((await ask('shop', 'ann')).statuses![0]!.remaining).toBe(8)
  })

  it('of one policy leaves the others alone', async () => {
    const admin = await administered({ policies: [...policies, { ...policies[0], name: 'web' }] })
    await admin.ask('block', { ...ann, policy: 'api', for: '1min' })
    const check = async (policy: string) =>
      (await admin.post('/v1/check', { ...ann, policy })).body.allowed
    expect([await check('api'), await check('web')]).toEqual([false, true])
  })

  it('refuses at /v1/auth with 429, Retry-After and a problem that says so', async () => {
    const admin = await administered({ proxy: { attributes: { user: 'x-user' } } })
    await admin.ask('block', { ...ann, for: '1min' })
    const ask = (kind: string, user: string) =>
      fetch(`${admin.url}/v1/auth/${kind}`, {
        headers: { 'x-user': user, 'x-forwarded-uri': '/', 'x-original-uri': '/' },
      })
    const refused = await ask('caddy', 'ann')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(55)
    expect(await refused.json()).toMatchObject({ title: 'Blocked', status: 429 })
    const nginx = await ask('nginx', 'ann')
    expect([nginx.status, nginx.headers.get('sluice-status')]).toEqual([403, '429'])
    expect((await ask('caddy', 'bob')).status).toBe(204)
  })

  it('holds where proxies ask, also by what no rule names', async () => {
    const admin = await administered({
      policies: [{ name: 'api', rules: [{ name: 'per-user', by: ['user'], limit: '90/h' }] }],
      proxy: { attributes: { user: 'x-user' }, routes: ['/orders/{id}'] },
      trustedProxies: ['127.0.0.0/8'],
    })
    const ask = async (address = '203.0.113.7') => {
      const headers = {
        'x-forwarded-for': address,
        'x-user': 'ann',
        'x-forwarded-uri': '/orders/7',
      }
      return (await fetch(`${admin.url}/v1/auth/caddy`, { headers })).status
    }
    expect(await ask()).toBe(204)
    for (const attributes of [{ ip: '203.0.113.7' }, { route: '/orders/:id' }, { method: 'GET' }]) {
      await admin.ask('block', { attributes, for: '1min' })
      expect(await ask()).toBe(429)
      await admin.ask('unblock', { attributes })
      expect(await ask()).toBe(204)
    }
    await admin.ask('block', { attributes: { ip: '203.0.113.7' }, for: '1min' })
    expect(await ask('203.0.113.8')).toBe(204)
  })

  it('of an address holds for the network by which proxies count it', async () => {
    const rules = [{ name: 'per-ip', by: ['ip'], limit: '9/h' }]
    const admin = await administered({
      policies: [{ name: 'api', rules }],
      trustedProxies: ['127.0.0.0/8'],
    })
    await admin.ask('block', { attributes: { ip: '2001:db8:0:12ff::7' }, for: '1min' })
    const ask = (address: string) =>
      fetch(`${admin.url}/v1/auth/caddy`, {
        headers: { 'x-forwarded-for': address, 'x-forwarded-uri': '/' },
      })
    expect((await ask('2001:db8:0:12ff::7')).status).toBe(429)
    expect((await ask('2001:db8:0:ff00::7')).status).toBe(204)
  })
})

describe('through a reload', () => {
  it('overrides and blocks stay; an override whose rule is gone waits for it', async () => {
    const file = join(folder(), 'sluice.yaml')
    const yaml = (rule: string, quota: number) =>
      `policies: [{ name: api, rules: [{ name: ${rule}, by: [user], limit: ${quota}/h }] }]\n`
    writeFileSync(file, yaml('per-user', 5))
    const { digest, config } = await loadConfig(file)
    const admin = await administered(
      { policies: config!.policies },
      {},
      {
        source: { file, digest, watch: false },
      },
    )
    const remaining = async (user: string) =>
      (await admin.post('/v1/peek', { attributes: { user } })).body.remaining
    await admin.ask('set-override', { rule: 'per-user', when: { user: 'ann' }, limit: '50/h' })
    await admin.ask('block', { attributes: { user: 'eve' }, for: '1h' })
    writeFileSync(file, yaml('per-user', 7))
    expect(await admin.reload()).toBe('applied')
    expect([await remaining('ann'), await remaining('bob')]).toEqual([50, 7])
    writeFileSync(file, yaml('other', 8))
    await admin.reload()
    expect([await remaining('ann'), await remaining('bob')]).toEqual([8, 8])
    const { body } = await admin.ask('overrides')
    expect(body.overrides).toMatchObject([{ idle: 'there is no rule of that name' }])
    writeFileSync(file, yaml('per-user', 9))
    await admin.reload()
    expect([await remaining('ann'), await remaining('bob')]).toEqual([50, 9])
    const blocked = await admin.post('/v1/check', { attributes: { user: 'eve' } })
    expect(blocked.body).toMatchObject({ reason: 'blocked' })
  })
})

describe('in a fleet', () => {
  it('another instance, without an admin API, learns within two seconds', async () => {
    const redis = await startRedis()
    const admin = await administered({ store: redis.url })
    const other = await running({ policies, store: redis.url, listeners: { grpc: { port: 0 } } })
    const check = async (user: string) =>
      (await other.post('/v1/check', { attributes: { user } })).body
    const override = { rule: 'per-user', when: { user: 'bob' }, limit: '50/h' }
    await admin.ask('block', { ...ann, for: '1h' })
    await admin.ask('set-override', override)
    await until('it is known', 2000, async () => (await check('ann')).allowed === false)
    await until('it is known', 2000, async () => (await check('bob')).remaining > 40)
    expect(await check('ann')).toMatchObject({ reason: 'blocked' })
    expect((await grpcOf(other)('api', 'ann')).code).toBe(OVER)
    // A newcomer knows from its first request on.
    const third = await running({ policies, store: redis.url })
    expect((await third.post('/v1/check', ann)).body).toMatchObject({ reason: 'blocked' })
    await redis.stop()
    const failed = /blocks and overrides cannot be read/
    await until('a look has failed', 10_000, async () =>
      other.logged().some(({ msg }) => failed.test(String(msg))),
    )
    expect(await check('ann')).toMatchObject({ reason: 'blocked' })
    const unblocked = await admin.ask('unblock', ann)
    expect(unblocked.status).toBe(503)
    const bob = await admin.ask('read', { attributes: { user: 'bob' } })
    expect(bob.body.decision).toMatchObject({ degraded: true })
    expect((await admin.ask('keys')).status).toBe(503)
    expect((await admin.ask('reset', ann)).status).toBe(503)
    expect((await admin.ask('state')).body).toMatchObject({ store: { kind: 'redis' }, blocks: 1 })
  })

  it('a Redis that restarts without its data gets blocks and overrides back, and the log says so', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const store = { kind: 'redis', url: redis.url, timeout: 2000 }
    const admin = await administered({ store })
    await admin.ask('block', { ...ann, for: '1h' })
    await admin.ask('set-override', { rule: 'per-user', when: { user: 'bob' }, limit: '70/h' })
    await redis.restart()
    const writtenBack = () => admin.logged().find(({ code }) => code === 'controls-written-back')
    await until('they are written back', 20_000, async () => writtenBack() !== undefined)
    expect(writtenBack()).toMatchObject({ level: 'warn', blocks: 1, overrides: 1 })
    // Another instance knows them from the start.
    const other = await running({ policies, store })
    const check = async (user: string) =>
      (await other.post('/v1/check', { attributes: { user } })).body
    expect(await check('ann')).toMatchObject({ allowed: false, reason: 'blocked' })
    expect(await check('bob')).toMatchObject({ allowed: true, remaining: 69 })
  })
})
