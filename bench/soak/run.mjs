// `npm run soak -- --hours N` (10 minutes by default; `--minutes N` too): the service on Redis under a steady load.
// Each minute prints memory, handles, timers, keys without TTL and waits. Ends with exit code 1 if any of them grows.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createLog, readConfig, startService } from '@sluice/server'
import { Redis } from 'ioredis'
import { startRedisServer } from '../lib/redis-server.mjs'
import { grown } from './growth.mjs'

const { values } = parseArgs({
  options: { hours: { type: 'string' }, minutes: { type: 'string' } },
})
const minutes =
  values.hours === undefined ? Number(values.minutes ?? 10) : Number(values.hours) * 60
if (!(minutes > 0)) {
  console.error('error: --hours and --minutes are numbers above 0')
  process.exit(1)
}
const SAMPLE = Math.min(60_000, (minutes * 60_000) / 9)

/** By what a figure may grow: a share of itself, and a floor for noise. */
const ALLOWED = {
  'heap MB': { share: 0.2, floor: 4 },
  'memory MB': { share: 0.2, floor: 24 },
  handles: { share: 0, floor: 4 },
  timers: { share: 0, floor: 4 },
  'keys without TTL': { share: 0, floor: 0 },
  'p50 ms': { share: 1, floor: 1 },
  'p99 ms': { share: 1, floor: 10 },
}

const redis = await startRedisServer()
const client = new Redis(redis.url)
const text = JSON.stringify({
  policies: [{ name: 'api', rules: [{ name: 'per-key', by: ['key'], limit: '20/10s' }] }],
  store: redis.url,
  listeners: { http: { port: 0 } },
})
const { config } = readConfig(text, 'soak')
if (config === undefined) throw new Error('the configuration of the soak is wrong')
const service = await startService({ config, log: createLog('warn') })
const url = service.listeners.find(({ name }) => name === 'http')?.url ?? ''
const load = fork(fileURLToPath(new URL('load.mjs', import.meta.url)), [url])

/** @type {Record<string, number[]>} */
const samples = Object.fromEntries(Object.keys(ALLOWED).map((name) => [name, []]))
const begun = Date.now()
let failed = 0
console.log(['minute', ...Object.keys(ALLOWED), 'requests'].join(' | '))
while (Date.now() - begun < minutes * 60_000) {
  await pause(SAMPLE)
  const row = await sample()
  for (const [name, value] of Object.entries(row.figures)) samples[name]?.push(value)
  const shown = Object.values(row.figures).map((value) => Math.round(value * 100) / 100)
  console.log([((Date.now() - begun) / 60_000).toFixed(1), ...shown, row.requests].join(' | '))
}
load.disconnect()
await once(load, 'exit')
await service.stop()
client.disconnect()
redis.stop()
const problems = grown(samples, ALLOWED)
if (failed > 0) problems.push(`${failed} requests failed`)
for (const problem of problems) console.error(problem)
console.log(problems.length === 0 ? 'nothing grows' : `${problems.length} problems`)
process.exit(problems.length === 0 ? 0 : 1)

async function sample() {
  load.send('sample')
  const [waits] = await once(load, 'message')
  failed = waits.failed
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  const resources = process.getActiveResourcesInfo()
  const timers = resources.filter((name) => name === 'Timeout').length
  return {
    requests: waits.count,
    figures: {
      'heap MB': heapUsed / 2 ** 20,
      'memory MB': rss / 2 ** 20,
      handles: resources.length - timers,
      timers,
      'keys without TTL': await keysWithoutTtl(),
      'p50 ms': waits.p50,
      'p99 ms': waits.p99,
    },
  }
}

/** Keys of ours that would stay for ever. */
async function keysWithoutTtl() {
  let count = 0
  let cursor = '0'
  do {
    const [next, keys] = await client.scan(cursor, 'COUNT', 1000)
    const pipeline = client.pipeline()
    for (const key of keys) pipeline.pttl(key)
    for (const [, ttl] of (await pipeline.exec()) ?? []) if (ttl === -1) count += 1
    cursor = next
  } while (cursor !== '0')
  return count
}
