// The service on a real Redis: counts are shared, and a store that is gone is answered by the failure contract.
import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../../../test/servers/redis-server.ts'
import { until } from '../../../test/servers/until.ts'
import { running, type Running } from './running.ts'

const policies = [
  { name: 'local', rules: [{ name: 'r', by: ['key'], limit: '10/h' }] },
  { name: 'open', rules: [{ name: 'r', by: ['key'], limit: '1/h', onStoreFailure: 'open' }] },
  { name: 'closed', rules: [{ name: 'r', by: ['key'], limit: '9/h', onStoreFailure: 'closed' }] },
]

/** With patience: on a busy machine the fallback would answer now and then. */
const patient = (url: string) => ({ kind: 'redis', url, timeout: '10s' })

async function redis(args: string[] = []) {
  const server = await startRedis({ args })
  onTestFinished(server.stop)
  return server
}

const serving = ({ get, post }: Running) =>
  until('the store answers', 5000, async () => {
    const { body } = await post('/v1/check', { policy: 'open', key: `probe-${Math.random()}` })
    const ready = await get('/readyz')
    return !body.degraded && ready.status === 200
  })

describe('on Redis', () => {
  test('instances share their counts', async () => {
    const { url } = await redis()
    const services = [
      await running({ policies, store: patient(url) }),
      await running({ policies, store: patient(url) }),
    ]
    await Promise.all(services.map(serving))
    const allowed: boolean[] = []
    for (let i = 0; i < 12; i++) {
      const { body } = await services[i % 2]!.post('/v1/check', { policy: 'local', key: 'a' })
      allowed.push(body.allowed)
    }
    expect(allowed.filter(Boolean)).toHaveLength(10)
  })

  test('a leased rule is answered from leases once it is hot', async () => {
    const { url } = await redis()
    const rule = { name: 'r', by: ['key'], limit: '100000/s', coordination: 'leased' }
    const leased = [{ name: 'leased', rules: [rule] }]
    const { post, metrics } = await running({ policies: leased, store: patient(url) })
    const remaining = await until('a decision comes from a lease', 10_000, async () => {
      const checks = Array.from({ length: 20 }, () => ({ policy: 'leased', key: 'hot' }))
      const { body } = await post('/v1/check', { checks })
      const [last] = (body.decisions as { degraded: boolean; remaining: number }[]).slice(-1)
      // What is left in a lease is far less than what is left of the limit.
      return !last!.degraded && last!.remaining < 50_000 ? last!.remaining : undefined
    })
    expect(remaining).toBeGreaterThan(0)
    const text = await metrics()
    const granted = Number(/^sluice_leased_units_total (\d+)/m.exec(text)?.[1])
    const out = Number(/^sluice_units_out\{kind="lease"\} (\d+)/m.exec(text)?.[1])
    expect(granted).toBeGreaterThan(0)
    expect(out).toBeLessThanOrEqual(granted)
    const page = readFileSync(
      new URL('../../../docs/reference/service/metrics.md', import.meta.url),
      'utf8',
    )
    for (const [, name] of text.matchAll(/^# TYPE (\S+)/gm)) expect(page).toContain(name)
  })

  test('a local rule is counted by each instance, under its part of the limit', async () => {
    const { url } = await redis()
    const rule = { name: 'r', by: ['key'], limit: '10/h', coordination: 'local' }
    const file = { policies: [{ name: 'api', rules: [rule] }], store: patient(url) }
    for (const failure of [{ replicas: 4 }, { fallbackShare: 0.25 }]) {
      const { post } = await running({ ...file, failure })
      const answers = []
      for (let i = 0; i < 5; i++) answers.push((await post('/v1/check', { key: 'a' })).body)
      expect(answers.map(({ allowed }) => allowed)).toEqual([true, true, false, false, false])
      expect(answers.some(({ degraded }) => degraded)).toBe(false)
    }
  })

  test('synced counts are sent as often as the configuration says', async () => {
    const { url } = await redis()
    const rule = { name: 'r', by: ['key'], limit: '100000/h', coordination: 'synced' }
    const store = { ...patient(url), syncInterval: '1min' }
    const { post, metrics } = await running({ policies: [{ name: 'api', rules: [rule] }], store })
    // One after the other they take longer than the default interval.
    for (let i = 0; i < 300; i++) await post('/v1/check', { key: 'a' })
    const text = await metrics()
    expect(Number(/^sluice_synced_flushes_total (\d+)/m.exec(text)?.[1])).toBeLessThanOrEqual(2)
    expect(text).toContain('sluice_coordination_switches_total{to="synced"} 1')
  })

  test('a service that ends gives back what it has leased, to the unit', async () => {
    const { url } = await redis()
    const limit = { quota: 100_000, window: '30d', algorithm: 'fixed-window' }
    const rule = { name: 'r', by: ['key'], limit, coordination: 'leased' }
    const file = { policies: [{ name: 'leased', rules: [rule] }], store: patient(url) }
    const first = await running(file)
    let spent = 0
    await until('units are leased', 20_000, async () => {
      const checks = Array.from({ length: 50 }, () => ({ policy: 'leased', key: 'hot' }))
      const { body } = await first.post('/v1/check', { checks })
      spent += (body.decisions as { degraded: boolean }[]).filter((one) => !one.degraded).length
      return Number(/^sluice_units_out\{kind="lease"\} (\d+)/m.exec(await first.metrics())?.[1]) > 0
    })
    await first.stop()
    const second = await running(file)
    await until('the store answers', 10_000, async () => {
      const { body } = await second.post('/v1/check', { policy: 'leased', key: 'hot' })
      if (body.degraded) return false
      expect(body.remaining).toBe(100_000 - spent - 1)
      return true
    })
  })

  test('a batch is one question to the server for each turn', async () => {
    const server = await redis()
    const service = await running({ policies, store: patient(server.url) })
    await serving(service)
    const calls = async () =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await server.cli('INFO', 'commandstats'))?.[1])
    const before = await calls()
    const checks = Array.from({ length: 50 }, (_, i) => ({ policy: 'local', key: `k${i}` }))
    const { body } = await service.post('/v1/check', { checks })
    expect(body.decisions).toHaveLength(50)
    expect((await calls()) - before).toBe(1)
  })

  test('gone, each rule does what it says, and the service tells', async () => {
    const server = await redis()
    const service = await running({
      policies,
      store: server.url,
      failure: { fallbackShare: 0.5 },
    })
    const { post, get, logged, metrics } = service
    await serving(service)
    server.kill('SIGKILL')
    const ask = async (policy: string, key: string) =>
      (await post('/v1/check', { policy, key })).body
    await until('it is noticed', 5000, async () => (await ask('open', 'x')).degraded)
    const local: boolean[] = []
    for (let i = 0; i < 8; i++) local.push((await ask('local', 'a')).allowed)
    expect(local.filter(Boolean)).toHaveLength(5)
    expect(await ask('open', 'a')).toMatchObject({ allowed: true, degraded: true })
    expect(await ask('open', 'a')).toMatchObject({ allowed: true, degraded: true })
    expect(await ask('closed', 'a')).toMatchObject({ allowed: false, reason: 'unavailable' })
    for (let i = 0; i < 10; i++) for (const { name } of policies) await ask(name, `b${i}`)
    expect((await get('/readyz')).body).toMatchObject({ status: 'serving', degraded: true })
    const text = await metrics()
    expect(text).toMatch(/sluice_store_errors_total\{code="store-[a-z]+"\} [1-9]/)
    expect(text).toMatch(/sluice_degraded_decisions_total\{policy="local"\} [1-9]/)
    expect(text).toContain('result="unavailable"} ')
    expect(text).toMatch(/sluice_breaker_state\{policy="local",state="(open|half-open)"\} 1/)
    expect(logged().length).toBeLessThan(40)

    await server.restart()
    await until('it is back', 10_000, async () => {
      for (const { name } of policies) await ask(name, `probe-${Math.random()}`)
      return !('degraded' in (await get('/readyz')).body)
    })
    expect(await ask('closed', 'c')).toMatchObject({ allowed: true, degraded: false })
    const lines = (text: string) => logged().filter(({ msg }) => String(msg).startsWith(text))
    expect(lines('the store fails; decisions are made without it')).toHaveLength(1)
    expect(lines('the store answers again')).toHaveLength(1)
  })

  test('there from the start, it decides the first request', async () => {
    const { url } = await redis()
    const { post, get } = await running({ policies, store: url })
    const ready = await get('/readyz')
    expect([ready.status, ready.body.degraded]).toEqual([200, undefined])
    const { body } = await post('/v1/check', { policy: 'local', key: 'a' })
    expect([body.allowed, body.degraded]).toEqual([true, false])
  })

  test('unreachable from the start, the service starts all the same', async () => {
    const { post, get } = await running({ policies, store: 'redis://127.0.0.1:1' })
    const { status, body } = await post('/v1/check', { policy: 'local', key: 'a' })
    expect([status, body.allowed, body.degraded]).toEqual([200, true, true])
    const ready = await get('/readyz')
    expect([ready.status, ready.body.degraded]).toEqual([200, true])
  })

  test('its password is in no log', async () => {
    const server = await redis(['--requirepass', 'right'])
    const url = `redis://user:hunter2@127.0.0.1:${server.port}`
    const { post, logged, stop } = await running({ policies, store: url })
    await until('it is refused', 5000, async () => {
      await post('/v1/check', { policy: 'local', key: 'a' })
      return logged().some(({ level }) => level === 'warn')
    })
    await stop()
    expect(JSON.stringify(logged())).not.toContain('hunter2')
  })
})
