// `sluice bench`: on memory, on a real Redis and on a running service, for a moment each.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLog, loadConfig, startService, type Service } from '@sluice/server'
import { startRedis, type RedisServer } from '../../../test/servers/redis-server.ts'
import type { BenchReport } from '../src/bench/print.ts'
import { benchCommand, type BenchFlags } from '../src/commands/bench.ts'
import { streamsWith } from './test-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
const file = join(folder, 'sluice.yaml')
let redis: RedisServer
let service: Service
let url: string

beforeAll(async () => {
  writeFileSync(
    file,
    `policies:
  - name: api
    rules:
      - { name: per-ip, by: [ip], limit: 5/min }
      - { name: per-user, by: [user], limit: 1000/min }
listeners:
  http: { port: 0 }
`,
  )
  const { config } = await loadConfig(file)
  ;[redis, service] = await Promise.all([
    startRedis(),
    startService({ config: config!, log: createLog('silent') }),
  ])
  url = service.listeners.find(({ name }) => name === 'http')!.url
})
afterAll(async () => {
  await Promise.all([redis.stop(), service.stop()])
  rmSync(folder, { recursive: true, force: true })
})

async function bench(
  policy: string | undefined,
  flags: BenchFlags,
): Promise<{ code: number; out: string; report: () => BenchReport }> {
  const streams = streamsWith()
  const code = await benchCommand(policy, { seconds: '0.2', ...flags }, streams)
  return { code, out: streams.out(), report: () => JSON.parse(streams.out()) as BenchReport }
}

describe('sluice bench', () => {
  it('measures memory with a limit of its own', async () => {
    const { code, out } = await bench(undefined, {})
    expect(code).toBe(0)
    expect(out).toMatch(/^memory: [\d,]+ decisions per second, half of them within .* ms/)
    expect(out).toMatch(/^TARGET +decisions\/s +p50 +p99 +calls +refused +fallback +failed$/m)
  })

  it('measures a Redis with the policy of a file, and leaves nothing behind', async () => {
    const flags = { store: redis.url, json: true, keys: '20', modes: 'strict' }
    const { report } = await bench(file, flags)
    const [memory, strict] = report().results
    expect(memory!.name).toBe('memory')
    expect(strict).toMatchObject({ name: 'redis, strict', failed: 0, degraded: 0 })
    expect(strict!.decisions).toBe(strict!.allowed + strict!.refused)
    expect(strict!.rules).toContain('per-ip')
    expect(strict!.refused).toBeGreaterThan(0)
    expect(strict!.storeCallsPerDecision).toBeGreaterThan(0)
    expect(strict!.storeCallsPerDecision).toBeLessThanOrEqual(1)
    expect(strict!.p99).toBeGreaterThanOrEqual(strict!.p50)
    expect(await redis.cli<number>('DBSIZE')).toBe(0)
  })

  it('measures a Redis in each coordination mode', async () => {
    const { report } = await bench(file, { store: redis.url, json: true, keys: '20' })
    expect(report().results.map(({ name }) => name)).toEqual([
      'memory',
      'redis, strict',
      'redis, leased',
      'redis, synced',
      'redis, local',
      'redis, auto',
    ])
    for (const { decisions, failed, rules } of report().results) {
      expect(decisions).toBeGreaterThan(0)
      expect(failed).toBe(0)
      expect(rules).toContain('per-ip')
    }
    expect(report().results.find(({ name }) => name === 'redis, local')).toMatchObject({
      storeCallsPerDecision: 0,
    })
    expect(await redis.cli<number>('DBSIZE')).toBe(0)
  })

  it('measures a running service', async () => {
    const { report } = await bench(file, {
      service: url,
      json: true,
      concurrency: '8',
      // On a busy machine one request may take 0.2 s.
      seconds: '2',
    })
    const [only] = report().results
    expect(only).toMatchObject({ name: 'service', failed: 0, storeCallsPerDecision: null })
    expect(only!.decisions).toBeGreaterThan(8)
  })

  it('asks before it uses a store that holds other keys', async () => {
    await redis.cli('SET', 'mine', '1')
    await expect(bench(file, { store: redis.url })).rejects.toThrow(
      'holds 1 key of others. The load may slow down its other users',
    )
    const { code } = await bench(file, { store: redis.url, yes: true, modes: 'strict' })
    expect(code).toBe(0)
    expect(await redis.cli<number>('DBSIZE')).toBe(1)
    await redis.cli('DEL', 'mine')
  })

  it('hides the password of a store that cannot be reached', async () => {
    const store = 'redis://user:secret@127.0.0.1:1'
    const failed = bench(file, { store }).catch((error: Error) => error.message)
    expect(await failed).toMatch(/^cannot connect to redis:\/\/…@127\.0\.0\.1:1: /)
  })

  it.each([
    [{ seconds: '3600' }, '--seconds is 3600; accepted: a number from 0.1 to 60'],
    [{ modes: 'strict,loose' }, '--modes has "loose"; accepted: strict, leased'],
    [{ keys: '0' }, '--keys is 0; accepted: a whole number from 1 to 1000000'],
    [{ concurrency: '1.5' }, '--concurrency is 1.5; accepted: a whole number'],
    [{ use: 'web' }, 'has the policies api; accepted: --use one of them'],
  ])('names what is wrong: %j', async (flags, message) => {
    await expect(bench(file, flags)).rejects.toThrow(message)
  })
})
