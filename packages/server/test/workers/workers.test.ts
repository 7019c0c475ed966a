// A service of several processes is one service: one count, one state of the file, one sum of metrics, one end.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../../test/servers/ports.ts'
import { startRedis } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { HyperLogLog } from '../../src/metrics/hyper-log-log.ts'
import { hash32 } from '../../src/observe/keys.ts'
import { startLoad } from '../load.ts'
import { childrenOf, isAlive, kill, runWorkers, type RunningWorkers } from './running-workers.ts'

let redis: Awaited<ReturnType<typeof startRedis>>
beforeAll(async () => void (redis = await startRedis()))
afterAll(() => redis.stop())

let runs = 0
/** Starts workers whose counts begin at nothing, and waits until Redis answers all of them. */
async function runFresh(
  workers: number,
  config: object,
  env: Record<string, string> = {},
): Promise<RunningWorkers> {
  const store = { kind: 'redis', url: redis.url, prefix: `run-${++runs}:`, timeout: '5s' }
  const running = await runWorkers(workers, { store, ...config }, env)
  await until('Redis answers', 20_000, async () => {
    const probes = Array.from({ length: 4 * workers }, (_, i) =>
      running.post('/v1/peek', { key: `probe-${i}` }),
    )
    return (await Promise.all(probes)).every(({ degraded }) => !degraded)
  })
  return running
}

const rule = (limit: string) => ({ name: 'per-key', by: ['key'], limit })
const config = (limit = '100/h', more: object = {}) => ({
  policies: [{ name: 'api', rules: [rule(limit)] }],
  ...more,
})

/** Asks for one key many times at once, over connections of which each may reach another worker. */
async function ask({ post }: RunningWorkers, times: number, key = 'one'): Promise<boolean[]> {
  const asked = Array.from({ length: times }, () => post('/v1/check', { key }))
  return (await Promise.all(asked)).map(({ allowed }) => allowed)
}

const allowedOf = (answers: readonly boolean[]) => answers.filter(Boolean).length

async function metric({ get }: RunningWorkers, series: string): Promise<number> {
  const { text } = await get('/metrics')
  const line = text.split('\n').find((each) => each.startsWith(`${series} `))
  return Number(line?.slice(series.length + 1))
}

/** The figure once it is what is wanted, or what it stays: a busy worker may be late for one reading of the sum. */
async function figure(service: RunningWorkers, series: string, wanted: number): Promise<number> {
  const isThere = async () => (await metric(service, series)) === wanted
  await until(`${series} is ${wanted}`, 10_000, isThere).catch(() => {})
  return metric(service, series)
}

const TOKEN = 'operator-token-for-tests-0123456789'

/** The part of the answer about top keys that is compared. */
interface TopAnswer {
  readonly rules: readonly {
    readonly refused: readonly { readonly count: number }[]
    readonly busiest: readonly { readonly count: number }[]
  }[]
}

const ALLOWED = 'sluice_decisions_total{policy="api",rule="per-key",result="allowed"}'
const REFUSED = 'sluice_decisions_total{policy="api",rule="per-key",result="refused"}'
const DISTINCT = 'sluice_rule_distinct_keys{policy="api",rule="per-key"}'

test('four workers admit exactly the limit, and any of them shows the sum of all metrics', async () => {
  const port = String(await freePort())
  const admin = { SLUICE_ADMIN_PORT: port, SLUICE_ADMIN_TOKEN: TOKEN }
  // At most 100 decisions, all of which one worker looks at even if it makes them at once.
  const service = await runFresh(4, config('45/h'), admin)
  expect(allowedOf(await ask(service, 90))).toBe(45)
  expect(await figure(service, ALLOWED, 45)).toBe(45)
  expect(await figure(service, REFUSED, 45)).toBe(45)
  expect(await figure(service, 'sluice_ready', 4)).toBe(4)
  expect(JSON.parse((await service.get('/readyz')).text)).toEqual({
    status: 'serving',
    generation: 1,
    workers: { wanted: 4, ready: 4 },
  })
  const workers = service.logged().filter(({ msg }) => msg === 'listening')
  expect(new Set(workers.map(({ worker }) => worker))).toEqual(new Set([1, 2, 3, 4]))
  // Whichever worker answers an operator, it answers for all of them, at the latest when they have written.
  const answers = async (path: string): Promise<readonly unknown[]> => {
    const headers = { authorization: `Bearer ${TOKEN}`, connection: 'close' }
    const asked = Array.from({ length: 8 }, () =>
      fetch(`http://127.0.0.1:${port}/v1/admin/${path}`, { headers }),
    )
    return Promise.all((await Promise.all(asked)).map((response) => response.json()))
  }
  const refusals = async () =>
    ((await answers('why?attribute=key%3Done')) as { refusals: { count: number }[] }[]).map(
      (answer) => answer.refusals.reduce((sum, { count }) => sum + count, 0),
    )
  await until('every worker knows all refusals', 20_000, async () =>
    (await refusals()).every((count) => count === 45),
  )
  const tops = async () =>
    ((await answers('keys/top')) as TopAnswer[]).map(({ rules: [top] }) => [
      top?.refused[0]?.count,
      top?.busiest[0]?.count,
    ])
  await until('every worker knows the top keys of all', 20_000, async () =>
    (await tops()).every(([refused, busiest]) => refused === 45 && busiest === 45),
  )
  // Keys that one worker alone has seen, and one that all have: each is counted once.
  const keys = ['one', ...Array.from({ length: 40 }, (_, i) => `key-${i}`)]
  await Promise.all(keys.map((key) => service.post('/v1/check', { key })))
  const all = new HyperLogLog()
  for (const key of keys) all.add(hash32(key))
  expect(await figure(service, DISTINCT, all.size)).toBe(all.size)
  const { text } = await service.get('/metrics')
  const listed = readFileSync(
    new URL('../../../../docs/reference/service/metrics.md', import.meta.url),
    'utf8',
  )
  const named = [...listed.matchAll(/^\| `(sluice_worker\w+)` /gm)].map(([, name]) => name!)
  const served = [...text.matchAll(/^# TYPE (sluice_worker\S+)/gm)].map(([, name]) => name!)
  expect(served.toSorted()).toEqual(named.toSorted())
})

test('a worker that is killed is replaced, and no counter goes back', async () => {
  const service = await runFresh(2, config())
  await ask(service, 30)
  const before = await figure(service, ALLOWED, 30)
  expect(before).toBe(30)
  const old = service.pids()
  for (const pid of old.values()) process.kill(pid, 'SIGKILL')
  await until('they are replaced', 60_000, async () => {
    const pids = service.pids()
    return [1, 2].every((number) => pids.get(number) !== old.get(number))
  })
  const after = await until('they answer', 20_000, async () => metric(service, ALLOWED))
  expect(after).toBe(30)
  // The counts are in Redis.
  expect(allowedOf(await ask(service, 100))).toBe(70)
  expect(await figure(service, ALLOWED, 100)).toBe(100)
  expect(await figure(service, 'sluice_worker_restarts_total', 2)).toBe(2)
})

test('a reload reaches every worker under one number; a bad file changes nothing anywhere', async () => {
  const service = await runFresh(3, config('5/h'))
  const states = async () => {
    const texts = await Promise.all(Array.from({ length: 12 }, () => service.get('/v1/policies')))
    return [
      ...new Set(texts.map(({ text }) => text.match(/"generation":\d+|"quota":\d+/g)!.join())),
    ]
  }
  const written = JSON.parse(readFileSync(service.file, 'utf8')) as object
  writeFileSync(service.file, JSON.stringify({ ...written, ...config('7/h') }))
  await until(
    'all have it',
    20_000,
    async () => (await states()).join() === '"generation":2,"quota":7',
  )
  writeFileSync(service.file, 'policies: 5')
  service.kill('SIGHUP')
  const ready = await until('it is told', 20_000, async () => {
    const answers = await Promise.all(Array.from({ length: 9 }, () => service.get('/readyz')))
    return answers.every(({ text }) => text.includes('policies is 5')) && answers
  })
  expect(ready.every(({ status }) => status === 200)).toBe(true)
  expect(await states()).toEqual(['"generation":2,"quota":7'])
  const errors = service.logged().filter(({ msg }) => msg.includes('not valid'))
  expect(errors).toHaveLength(1)
  // One that is started now gets what is in force, not what is in the file.
  const old = service.pids().get(1)!
  process.kill(old, 'SIGKILL')
  await until('it is replaced', 60_000, async () => service.pids().get(1) !== old)
  expect(await states()).toEqual(['"generation":2,"quota":7'])
  expect(await figure(service, 'sluice_config_generation', 2)).toBe(2)
})

test('warnings about the file are logged once, not by each worker', async () => {
  const misspelled = { name: 'per-user', by: ['usr'], limit: '9/min' }
  const policies = [{ name: 'api', rules: [rule('100/h'), misspelled] }]
  const service = await runFresh(2, { policies })
  const warned = () => service.logged().filter(({ code }) => code === 'unset-attribute')
  expect(warned().map(({ worker, path }) => [worker, path])).toEqual([
    [undefined, 'policies[0].rules[1].by[0]'],
  ])
  const more = { name: 'per-team', by: ['tem'], limit: '9/min' }
  const changed = { policies: [{ name: 'api', rules: [rule('100/h'), misspelled, more] }] }
  const { store } = JSON.parse(readFileSync(service.file, 'utf8')) as { store: object }
  writeFileSync(service.file, JSON.stringify({ store, ...changed }))
  service.kill('SIGHUP')
  await until('the new warning is logged', 20_000, async () => warned().length > 1)
  expect(warned().map(({ worker, path }) => [worker, path])).toEqual([
    [undefined, 'policies[0].rules[1].by[0]'],
    [undefined, 'policies[0].rules[2].by[0]'],
  ])
})

test('SIGTERM under load loses no response, and health flips first', async () => {
  const service = await runFresh(3, config('5/h'), { SLUICE_SHUTDOWN_DELAY: '1s' })
  const load = startLoad(service.url, 32)
  await until('load runs', 30_000, async () => load.result.answered > 500)
  service.kill('SIGTERM')
  await until('health flips', 10_000, async () => (await service.get('/readyz')).status === 503)
  expect((await service.ended)[0]).toBe(0)
  const { faults, refused } = await load.stop()
  expect(faults).toEqual([])
  expect(refused).toBeGreaterThan(0)
})

test('a primary that gets no processor time at its end loses no response', async () => {
  const service = await runFresh(2, config('5/h'), { SLUICE_SHUTDOWN_DELAY: '1s' })
  const load = startLoad(service.url, 16)
  await until('load runs', 30_000, async () => load.result.answered > 500)
  service.kill('SIGTERM')
  await until('health flips', 10_000, async () => (await service.get('/readyz')).status === 503)
  service.kill('SIGSTOP')
  const due = performance.now() + 2000
  await until('the delay is over', 10_000, async () => performance.now() > due)
  service.kill('SIGCONT')
  expect((await service.ended)[0]).toBe(0)
  const { faults, refused } = await load.stop()
  expect(faults).toEqual([])
  expect(refused).toBeGreaterThan(0)
})

test.each(['SIGKILL', 'SIGINT'] as const)(
  '%s of the primary leaves no process behind',
  async (signal) => {
    const service = await runFresh(2, config())
    const pids = [...service.pids().values()]
    expect(pids).toHaveLength(2)
    expect(pids.every(isAlive)).toBe(true)
    service.kill(signal)
    await until('all are gone', 20_000, async () => !pids.some(isAlive))
    expect(service.logged().filter(({ level }) => level === 'error')).toEqual([])
  },
)

test('signals to the whole group, as terminals send them, drain it all the same', async () => {
  const service = await runFresh(2, config())
  for (const pid of service.pids().values()) process.kill(pid, 'SIGTERM')
  expect(allowedOf(await ask(service, 5))).toBe(5)
  service.kill('SIGTERM')
  expect((await service.ended)[0]).toBe(0)
  expect(service.logged().filter(({ level }) => level === 'error')).toEqual([])
})

test('workers that always end at once are given up, with a reason', async () => {
  const service = await runFresh(2, config())
  const killing = setInterval(() => {
    for (const pid of childrenOf(service.pid)) kill(pid)
  }, 20)
  const [code, errors] = await service.ended
  clearInterval(killing)
  expect(code).toBe(1)
  expect(errors).toMatch(
    /error: the worker ended 5 times in a row right after its start \(SIGKILL\)\n$/,
  )
})

test('descriptor files that have become wrong are reported by every worker until they are mended', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-descriptors-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'limits.yaml')
  const limits = (requests: number | string) =>
    `domain: shop\ndescriptors:\n  - key: user\n    rate_limit: { unit: year, requests_per_unit: ${requests} }\n`
  writeFileSync(file, limits(1))
  const envoy = { files: [file] }
  const env = { SLUICE_GRPC_PORT: String(await freePort()) }
  const { get, kill: signal } = await runFresh(2, { ...config(), envoy }, env)
  for (const [requests, valid] of [
    ['many', 0],
    [2, 1],
  ] as const) {
    writeFileSync(file, limits(requests))
    signal('SIGHUP')
    await until('every worker knows', 10_000, async () => {
      const answers = await Promise.all(Array.from({ length: 6 }, () => get('/readyz')))
      return answers.every(({ text }) => text.includes('"reloadProblems":') === (valid === 0))
    })
    expect((await get('/metrics')).text).toContain(`sluice_envoy_files_valid ${valid}\n`)
  }
})

test('a port in use is one sentence, and nothing is left running', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const started = runFresh(2, config(), { SLUICE_HTTP_PORT: String(port) })
  await expect(started).rejects.toThrow(`cannot listen on 127.0.0.1:${port}: it is in use`)
  other.close()
})

test('what the admin API of one worker changes holds in all of them, and it finds the keys of all', async () => {
  const token = 'a-token-that-is-long-enough-for-tests-0123456789'
  const service = await runFresh(3, config('50/h', { listeners: { admin: { port: 0 } } }), {
    SLUICE_ADMIN_TOKEN: token,
  })
  const admin = service.logged().find(({ listener }) => listener === 'admin')!['url'] as string
  const asked = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${admin}/v1/admin/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        connection: 'close',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  }
  expect(allowedOf(await ask(service, 6, 'seen'))).toBe(6)
  const found = await asked('GET', 'keys?policy=api')
  expect([found.status, found.text]).toEqual([200, expect.stringContaining('"seen"')])
  const blocked = await asked('POST', 'block', {
    attributes: { key: 'bad' },
    for: '1h',
  })
  expect([blocked.status, blocked.text]).toEqual([
    expect.any(Number),
    expect.stringContaining('bad'),
  ])
  await until('all workers refuse it', 10_000, async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => service.post('/v1/check', { key: 'bad' })),
    )
    return answers.every(({ reason }) => reason === 'blocked')
  })
  expect(await figure(service, 'sluice_blocks', 1)).toBe(1)
})

test('a worker that hangs is killed and replaced, which the log and a metric show', async () => {
  const service = await runFresh(2, config())
  const hung = service.pids().get(1)!
  process.kill(hung, 'SIGSTOP')
  await until('it is replaced', 60_000, async () => service.pids().get(1) !== hung)
  expect(isAlive(hung)).toBe(false)
  expect(allowedOf(await ask(service, 10))).toBe(10)
  expect(service.logged().filter(({ msg }) => msg === 'the worker hangs; it is killed')).toEqual([
    expect.objectContaining({ worker: 1, pid: hung }),
  ])
  expect(await figure(service, 'sluice_workers_hung_total', 1)).toBe(1)
  expect(await figure(service, 'sluice_worker_restarts_total', 1)).toBe(1)
})

test('several workers without Redis do not start', async () => {
  await expect(runWorkers(2, config())).rejects.toThrow(
    'workers is 2; several workers need a store that they share',
  )
})
