// Units that are leased while an operator resets a key, overrides its limit, or changes the file.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../../../test/servers/redis-server.ts'
import { until } from '../../../test/servers/until.ts'
import { loadConfig } from '../src/config/load-config.ts'
import { administered, folder, type Admin } from './admin/admin.ts'

const WINDOW = 30 * 86_400_000
const QUOTA = 100_000

interface Decided {
  readonly allowed: boolean
  readonly degraded: boolean
  readonly remaining: number
}

/** What a file says: one leased rule. In a long window nothing comes back by itself. */
function file(url: string, quota: number): object {
  const limit = { quota, window: '30d', algorithm: 'fixed-window' }
  const rule = { name: 'r', by: ['user'], limit, coordination: 'leased' }
  const store = { kind: 'redis', url, timeout: '10s', leaseLife: '400ms' }
  return { policies: [{ name: 'api', rules: [rule] }], store }
}

const one = { policy: 'api', attributes: { user: 'ann' } }

const checked = async ({ post }: Admin, cost = 1): Promise<Decided> =>
  (await post('/v1/check', { ...one, cost })).body

const unitsOut = async ({ metrics }: Admin): Promise<number> =>
  Number(/^sluice_units_out\{kind="lease"\} (\d+)/m.exec(await metrics())?.[1])

/** A service that has spent 30,000 units of a key, and leased more of it. */
async function leasing(
  options?: Parameters<typeof administered>[2],
): Promise<Admin & { url: string }> {
  const redis = await startRedis()
  onTestFinished(redis.stop)
  const service = await administered(file(redis.url, QUOTA), {}, options)
  await until('the store answers', 10_000, async () => !(await checked(service, 30_000)).degraded)
  await leaseSome(service)
  return { ...service, url: redis.url }
}

async function leaseSome(service: Admin): Promise<void> {
  await until('units are leased', 20_000, async () => {
    await service.post('/v1/check', { checks: Array.from({ length: 50 }, () => one) })
    return (await unitsOut(service)) > 0
  })
}

test('the first use of a server is one line of the log', async () => {
  const { logged } = await leasing()
  const lines = logged().filter(({ code }) => code === 'store-learning')
  expect(lines).toEqual([
    expect.objectContaining({
      level: 'warn',
      msg: expect.stringMatching(/^the store leases nothing for one lease life/),
    }),
  ])
})

test('a reset ends the leases of its instance, and the key begins anew', async () => {
  const service = await leasing()
  expect((await checked(service)).remaining).toBeLessThan(QUOTA - 30_000)
  expect((await service.ask('reset', one)).status).toBe(200)
  expect(await unitsOut(service)).toBe(0)
  const { allowed, remaining } = await checked(service)
  expect(allowed).toBe(true)
  expect(remaining).toBeGreaterThan(QUOTA - 1000)
})

test('under an override leased units of the old limit are given back, not spent', async () => {
  const service = await leasing()
  const override = { policy: 'api', rule: 'r', when: { user: 'ann' } }
  const limit = { quota: 10, window: '30d', algorithm: 'fixed-window' }
  expect((await service.ask('set-override', { ...override, limit })).status).toBe(200)
  expect(await checked(service)).toMatchObject({ allowed: false, remaining: 0 })
  await until('the units are back', 10_000, async () => (await unitsOut(service)) === 0)
  expect((await service.ask('remove-override', override)).status).toBe(200)
  await until('the old limit holds again', 10_000, async () => (await checked(service)).allowed)
  expect((await checked(service)).remaining).toBeLessThan(QUOTA - 30_000)
})

test('after a reload leased units of the old limit are given back, not spent', async () => {
  const path = join(folder(), 'sluice.json')
  const server = await startRedis()
  onTestFinished(server.stop)
  const write = (quota: number): void =>
    writeFileSync(path, JSON.stringify(file(server.url, quota)))
  write(QUOTA)
  const { digest } = await loadConfig(path)
  const source = { file: path, digest, watch: { settle: 20, poll: 100 } }
  const service = await administered(file(server.url, QUOTA), {}, { source })
  await until('the store answers', 10_000, async () => !(await checked(service, 30_000)).degraded)
  await leaseSome(service)
  write(10)
  await until('the new limit holds', 10_000, async () => !(await checked(service)).allowed)
  await until('the units are back', 10_000, async () => (await unitsOut(service)) === 0)
  write(QUOTA)
  await until('the old limit holds again', 10_000, async () => (await checked(service)).allowed)
  expect((await checked(service)).remaining).toBeLessThan(QUOTA - 30_000)
})

test('the life of leases is the one of the configuration', async () => {
  const service = await leasing()
  const checks = Array.from({ length: 50 }, () => one)
  // At a decision from a lease the longest wait is that of a full window, and one life.
  const wait = await until('a decision comes from a lease', 20_000, async () => {
    const { body } = await service.post('/v1/check', { checks })
    const waits = (body.decisions as { resetAfter: number }[]).map(({ resetAfter }) => resetAfter)
    return waits.find((one) => one > WINDOW)
  })
  expect(wait).toBe(WINDOW + 400)
})
