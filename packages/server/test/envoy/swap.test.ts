// "Another image in the same place": the environment, files and probes of envoyproxy/ratelimit, with `sluice serve` instead.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startRedis } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { OVER } from './client.ts'
import { grpcJsClient } from './grpc-js-client.ts'

vi.setConfig({ testTimeout: 60_000 })

const command = fileURLToPath(new URL('../../../cli/bin/sluice.js', import.meta.url))

/** The folder that the original mounts at /data. */
function runtime(): string {
  const root = mkdtempSync(join(tmpdir(), 'sluice-swap-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const folder = join(root, 'ratelimit/config')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'shop.yaml'),
    `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: year, requests_per_unit: 4 }
  - key: probe
    rate_limit: { unit: year, requests_per_unit: 4 }
`,
  )
  return root
}

test('the environment and the probes of the original work as they are', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const child = spawn(process.execPath, [command, 'serve'], {
    env: {
      PATH: process.env['PATH'],
      // As in the compose file of the original; only the ports are others.
      USE_STATSD: 'false',
      LOG_LEVEL: 'debug',
      BACKEND_TYPE: 'redis',
      REDIS_SOCKET_TYPE: 'tcp',
      REDIS_TYPE: 'SINGLE',
      REDIS_URL: `127.0.0.1:${redis.port}`,
      RUNTIME_ROOT: runtime(),
      RUNTIME_SUBDIRECTORY: 'ratelimit',
      RUNTIME_WATCH_ROOT: 'false',
      LIMIT_RESPONSE_HEADERS_ENABLED: 'true',
      NEAR_LIMIT_RATIO: '0.5',
      HOST: '127.0.0.1',
      PORT: '0',
      GRPC_HOST: '127.0.0.1',
      GRPC_PORT: '0',
      DEBUG_HOST: '127.0.0.1',
      DEBUG_PORT: '0',
      // A busy machine must not make Redis look slow.
      SLUICE_REDIS_TIMEOUT: '20s',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const urlOf = (name: string) =>
    new RegExp(`Listening for ${name} on http://(\\S+)\\n`).exec(printed)?.[1]
  await until('it listens', 30_000, async () => printed.includes('Ctrl+C'))
  const [http, grpc, debug] = ['http', 'grpc', 'debug'].map((name) => urlOf(name)!)

  const health = await fetch(`http://${http}/healthcheck`)
  expect([health.status, await health.text()]).toEqual([200, 'OK'])
  const client = grpcJsClient(grpc!)
  onTestFinished(() => client.close())
  const askFor = (key: string, value: string) =>
    client.ask({ domain: 'shop', descriptors: [{ entries: [[key, value]] }] })
  const ask = () => askFor('user', 'ann')
  let probes = 0
  await until('it counts in Redis', 30_000, async () => {
    const { statuses } = await askFor('probe', String(probes++))
    return statuses![0]!.remaining === 3
  })
  const first = await ask()
  expect(first.statuses).toMatchObject([{ remaining: 3 }])
  expect(first.headers!.map(([name]) => name)).toContain('RateLimit-Limit')

  const json = () =>
    fetch(`http://${http}/json`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"domain":"shop","descriptors":[{"entries":[{"key":"user","value":"ann"}]}]}',
    })
  expect((await json()).status).toBe(200)
  expect((await json()).status).toBe(200)
  expect((await json()).status).toBe(200)
  expect((await json()).status).toBe(429)
  expect((await ask()).code).toBe(OVER)

  const config = await fetch(`http://${debug}/rlconfig`)
  expect(await config.text()).toContain(
    'shop.user: unit=YEAR requests_per_unit=4, shadow_mode: false\n',
  )
  expect((await fetch(`http://${debug}/healthcheck`)).status).toBe(200)
  expect(await (await fetch(`http://${debug}/`)).text()).toContain('/rlconfig\n')
  expect((await fetch(`http://${debug}/v1/check`, { method: 'POST' })).status).toBe(404)
  expect((await fetch(`http://${debug}/rlconfig`, { method: 'POST' })).status).toBe(405)
  const metrics = await (await fetch(`http://${http}/metrics`)).text()
  const counted = (name: string) =>
    new RegExp(`^sluice_envoy_descriptor_${name}_total{.*descriptor="user"} (\\d+)$`, 'm').exec(
      metrics,
    )?.[1]
  // Two of the four units lie above one half of the limit.
  expect(['hits', 'near_limit', 'over_limit'].map(counted)).toEqual(['6', '2', '2'])
  expect(metrics).toMatch(/^sluice_debug_requests_total\{route="\/rlconfig",status="200"\} 1$/m)
})
