// What operators see and change of Envoy's descriptors: their keys, what they hold, and why they were refused.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startRedis } from '../../../../test/servers/redis-server.ts'
import { grpcJsClient } from '../envoy/grpc-js-client.ts'
import { administered, folder, type Admin } from './admin.ts'

vi.setConfig({ testTimeout: 30_000 })

const redis = await startRedis()
let prefixes = 0
const stores: [string, () => object][] = [
  ['memory', () => ({})],
  [
    'Redis',
    () => ({ store: { kind: 'redis', url: redis.url, prefix: `d${prefixes++}:`, timeout: 2000 } }),
  ],
]

const SHOP = `
domain: shop
descriptors:
  - key: user
    rate_limit: { unit: year, requests_per_unit: 3 }
  - key: user
    value: vip
    rate_limit: { unit: year, requests_per_unit: 9 }
  - key: path
    value: /img*
    share_threshold: true
    rate_limit: { unit: year, requests_per_unit: 100 }
  - key: tenant
    descriptors:
      - key: plan
        value: free
        rate_limit: { unit: year, requests_per_unit: 2 }
`

type Entries = readonly (readonly [string, string])[]

/** A service with descriptors, an operator, and a proxy that asks. */
async function shop(file: object) {
  const path = join(folder(), 'shop.yaml')
  writeFileSync(path, SHOP)
  const admin: Admin = await administered({
    ...file,
    listeners: { grpc: { port: 0 } },
    envoy: { files: [path] },
  })
  const { url } = admin.listeners.find(({ name }) => name === 'grpc')!
  const client = grpcJsClient(url.replace('http://', ''))
  onTestFinished(() => client.close())
  const ask = (...descriptors: Entries[]) =>
    client.ask({
      domain: 'shop',
      descriptors: descriptors.map((entries) => ({
        entries: entries.map(([key, value]): [string, string] => [key, value]),
      })),
    })
  const keys = async (query = '') => {
    const { status, body } = await admin.ask(`keys?policy=shop${query}`)
    expect(status).toBe(200)
    return (body.keys as { rule: string; attributes: object | null; remaining: number | null }[])
      .map(({ rule, attributes, remaining }) => ({ rule, attributes, remaining }))
      .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  }
  return { admin, ask, keys }
}

describe.each(stores)('descriptors on %s', (_, store) => {
  it('are listed as keys, each by the rule of its values', async () => {
    const { admin, ask, keys } = await shop(store())
    const long = 'x'.repeat(300)
    await ask([['user', 'ann']], [['user', 'vip']])
    await ask([['user', 'ann']], [['path', '/img/1.png']])
    await ask([['path', '/img/2.png']])
    await ask([
      ['tenant', 'a:1~'],
      ['plan', 'free'],
    ])
    await ask([['user', long]])
    expect(await keys()).toEqual([
      { rule: 'path=/img*', attributes: { path: '/img*' }, remaining: 98 },
      { rule: 'tenant, plan=free', attributes: { tenant: 'a:1~', plan: 'free' }, remaining: 1 },
      { rule: 'user', attributes: null, remaining: null },
      { rule: 'user', attributes: { user: 'ann' }, remaining: 1 },
      { rule: 'user=vip', attributes: { user: 'vip' }, remaining: 8 },
    ])
    expect(await keys('&rule=user%3Dvip')).toMatchObject([{ attributes: { user: 'vip' } }])
    expect(await keys('&text=an')).toMatchObject([{ attributes: { user: 'ann' } }])
    // Beside the keys of policies when none is named.
    await admin.post('/v1/check', { attributes: { user: 'ann' } })
    const { body } = await admin.ask('keys')
    const all = body.keys.map((one: { policy: string }) => one.policy) as string[]
    expect(new Set(all)).toEqual(new Set(['api', 'shop']))
    expect((await admin.ask('keys?policy=shop&rule=none')).status).toBe(404)
    expect((await admin.ask('keys?policy=none')).status).toBe(404)
  })

  it('are found among others when they are over their limit', async () => {
    const { ask, keys } = await shop(store())
    for (let i = 0; i < 3; i++) await ask([['user', 'ann']], [['user', 'vip']])
    expect(await keys('&over=true')).toEqual([
      { rule: 'user', attributes: { user: 'ann' }, remaining: 0 },
    ])
  })

  it('are read in data and in words, and nothing is charged', async () => {
    const { admin, ask } = await shop(store())
    const user = { policy: 'shop', attributes: { user: 'ann' } }
    for (let i = 0; i < 3; i++) await ask([['user', 'ann']])
    for (let i = 0; i < 2; i++) {
      const { status, body } = await admin.ask('read', user)
      expect(status).toBe(200)
      expect(body).toMatchObject({
        policy: 'shop',
        block: null,
        decision: { allowed: false, outcomes: [{ rule: 'user', remaining: 0, cost: 1 }] },
      })
      expect(body.explained[0]).toMatch(/^refused by user: fixed window 3\/.*: /)
    }
    const pair = { tenant: 't', plan: 'free' }
    const read = await admin.ask('read', { policy: 'shop', attributes: pair, cost: 2 })
    expect(read.body.decision).toMatchObject({
      allowed: true,
      outcomes: [{ rule: 'tenant, plan=free', remaining: 2, cost: 2 }],
    })
    const none = await admin.ask('read', { policy: 'shop', attributes: { planet: 'x' } })
    expect(none.body.decision).toMatchObject({ allowed: true, outcomes: [] })
  })

  it('are read as blocked first, with by whom and until when', async () => {
    const { admin, ask } = await shop(store())
    await ask([['user', 'ann']])
    const user = { policy: 'shop', attributes: { user: 'ann' } }
    await admin.ask('block', { ...user, for: '1min', note: 'spam' })
    const { body } = await admin.ask('read', user)
    expect(body).toMatchObject({
      block: { by: 'ops', note: 'spam' },
      decision: { allowed: false, reason: 'blocked', outcomes: [{ remaining: 2 }] },
    })
    expect(body.explained[0]).toMatch(/^refused: blocked by ops until 2.*: spam$/)
  })

  it('are reset and granted units', async () => {
    const { admin, ask, keys } = await shop(store())
    const user = { policy: 'shop', attributes: { user: 'ann' } }
    for (let i = 0; i < 3; i++) await ask([['user', 'ann']])
    const granted = await admin.ask('grant', { ...user, units: 2 })
    expect(granted.body.decision.outcomes).toMatchObject([{ remaining: 2 }])
    expect((await ask([['user', 'ann']])).statuses![0]!.remaining).toBe(1)
    expect((await admin.ask('reset', user)).body.decision.outcomes).toMatchObject([
      { remaining: 3 },
    ])
    expect(await keys()).toEqual([])
    const wrong = await admin.ask('reset', { policy: 'shop', attributes: { planet: 'x' } })
    expect(wrong).toMatchObject({ status: 404, body: { field: 'attributes' } })
    expect((await admin.ask('grant', { ...user, units: 1, rule: 'none' })).status).toBe(404)
  })

  it('are explained by why, with what holds now', async () => {
    const { admin, ask } = await shop(store())
    for (let i = 0; i < 4; i++) await ask([['user', 'ann']])
    const { body } = await admin.ask('why?policy=shop&attribute=user%3Dann')
    expect(body.refusals).toMatchObject([{ policy: 'shop', rule: 'user' }])
    expect(body.now).toMatchObject([{ policy: 'shop', allowed: false }])
  })
})
