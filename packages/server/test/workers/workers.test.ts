// A service of several processes is one service: one count, one state of the file, one sum of figures, one end.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../../../../test/servers/ports.ts'
import { startRedis } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { startLoad } from '../load.ts'
import { childrenOf, crewOf, isAlive, kill, type RunningCrew } from './crew.ts'

vi.setConfig({ testTimeout: 120_000 })

const rule = (limit: string) => ({ name: 'per-key', by: ['key'], limit })
const config = (limit = '100/h', more: object = {}) => ({
  policies: [{ name: 'api', rules: [rule(limit)] }],
  ...more,
})

/** Asks for one key many times at once, over connections of which each may reach another worker. */
async function ask({ post }: RunningCrew, times: number, key = 'one'): Promise<boolean[]> {
  const asked = Array.from({ length: times }, () => post('/v1/check', { key }))
  return (await Promise.all(asked)).map(({ allowed }) => allowed)
}

const allowedOf = (answers: readonly boolean[]) => answers.filter(Boolean).length

async function figure({ get }: RunningCrew, series: string): Promise<number> {
  const { text } = await get('/metrics')
  const line = text.split('\n').find((each) => each.startsWith(`${series} `))
  return Number(line?.slice(series.length + 1))
}

const ALLOWED = 'sluice_decisions_total{policy="api",rule="per-key",result="allowed"}'
const REFUSED = 'sluice_decisions_total{policy="api",rule="per-key",result="refused"}'

test('four workers admit exactly the limit, and any of them gives the sum of all figures', async () => {
  const crew = await crewOf(4, config())
  expect(allowedOf(await ask(crew, 200))).toBe(100)
  expect([await figure(crew, ALLOWED), await figure(crew, REFUSED)]).toEqual([100, 100])
  expect(await figure(crew, 'sluice_store_keys')).toBe(1)
  expect(await figure(crew, 'sluice_ready')).toBe(4)
  expect(JSON.parse((await crew.get('/readyz')).text)).toEqual({
    status: 'serving',
    generation: 1,
    workers: { wanted: 4, ready: 4 },
  })
  const workers = crew.logged().filter(({ msg }) => msg === 'listening')
  expect(new Set(workers.map(({ worker }) => worker))).toEqual(new Set([1, 2, 3, 4]))
})

test('on Redis they share the counts, and need no owner', async () => {
  const redis = await startRedis()
  const crew = await crewOf(
    2,
    config('50/h', { store: { kind: 'redis', url: redis.url, timeout: '5s' } }),
  )
  await until('Redis is asked', 20_000, async () => {
    const { degraded } = await crew.post('/v1/check', { key: `probe-${Math.random()}` })
    return !degraded
  })
  expect(allowedOf(await ask(crew, 80))).toBe(50)
  expect(crew.pids().owner).toBe(0)
  await redis.stop()
})

test('a worker that is killed is replaced, and no counter goes back', async () => {
  const crew = await crewOf(2, config())
  await ask(crew, 30)
  const before = await figure(crew, ALLOWED)
  expect(before).toBe(30)
  const old = crew.pids().workers
  for (const pid of old.values()) process.kill(pid, 'SIGKILL')
  await until('they are replaced', 60_000, async () => {
    const { workers } = crew.pids()
    return [1, 2].every((number) => workers.get(number) !== old.get(number))
  })
  const after = await until('they answer', 20_000, async () => figure(crew, ALLOWED))
  expect(after).toBe(30)
  // The counts are with their owner.
  expect(allowedOf(await ask(crew, 100))).toBe(70)
  expect(await figure(crew, ALLOWED)).toBe(100)
  expect(await figure(crew, 'sluice_process_restarts_total{process="worker"}')).toBe(2)
})

test('without the owner of the counts each grants its part; with the next one they begin afresh', async () => {
  const crew = await crewOf(2, config('40/h', { failure: { fallbackShare: 0.5 } }))
  expect(allowedOf(await ask(crew, 10))).toBe(10)
  const { owner } = crew.pids()
  process.kill(owner, 'SIGSTOP')
  await until('it is noticed', 20_000, async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => crew.post('/v1/check', { key: 'x' })))
    return answers.every(({ degraded }) => degraded)
  })
  const answers = await ask(crew, 100)
  expect(allowedOf(answers)).toBeGreaterThan(0)
  expect(allowedOf(answers)).toBeLessThanOrEqual(20)
  process.kill(owner, 'SIGKILL')
  await until('there is another', 60_000, async () => crew.pids().owner !== owner)
  await until('it is asked', 20_000, async () => {
    const asked = await Promise.all(
      [1, 2, 3, 4].map((i) => crew.post('/v1/check', { key: `y${i}` })),
    )
    return asked.every(({ degraded }) => !degraded)
  })
  expect(allowedOf(await ask(crew, 60))).toBe(40)
  expect(crew.logged().some(({ msg }) => msg.includes('its counts are lost'))).toBe(true)
})

test('a reload reaches every worker under one number; a bad file changes nothing anywhere', async () => {
  const crew = await crewOf(3, config('5/h'))
  const states = async () => {
    const texts = await Promise.all(Array.from({ length: 12 }, () => crew.get('/v1/policies')))
    return [
      ...new Set(texts.map(({ text }) => text.match(/"generation":\d+|"quota":\d+/g)!.join())),
    ]
  }
  writeFileSync(crew.file, JSON.stringify(config('7/h')))
  await until(
    'all have it',
    20_000,
    async () => (await states()).join() === '"generation":2,"quota":7',
  )
  writeFileSync(crew.file, 'policies: 5')
  crew.kill('SIGHUP')
  const ready = await until('it is told', 20_000, async () => {
    const answers = await Promise.all(Array.from({ length: 9 }, () => crew.get('/readyz')))
    return answers.every(({ text }) => text.includes('policies is 5')) && answers
  })
  expect(ready.every(({ status }) => status === 200)).toBe(true)
  expect(await states()).toEqual(['"generation":2,"quota":7'])
  const errors = crew.logged().filter(({ msg }) => msg.includes('not valid'))
  expect(errors).toHaveLength(1)
  // One that is started now gets what is in force, not what is in the file.
  const { workers } = crew.pids()
  process.kill(workers.get(1)!, 'SIGKILL')
  await until('it is replaced', 60_000, async () => crew.pids().workers.get(1) !== workers.get(1))
  expect(await states()).toEqual(['"generation":2,"quota":7'])
  expect(await figure(crew, 'sluice_config_generation')).toBe(2)
})

test('SIGTERM under load loses no response, and health flips first', async () => {
  const crew = await crewOf(3, config('5/h'), { SLUICE_SHUTDOWN_DELAY: '1s' })
  const load = startLoad(crew.url, 32)
  await until('load runs', 30_000, async () => load.result.answered > 500)
  crew.kill('SIGTERM')
  await until('health flips', 10_000, async () => (await crew.get('/readyz')).status === 503)
  expect((await crew.ended)[0]).toBe(0)
  const { faults, refused } = await load.stop()
  expect(faults).toEqual([])
  expect(refused).toBeGreaterThan(0)
})

test.each(['SIGKILL', 'SIGINT'] as const)(
  '%s of the primary leaves no process behind',
  async (signal) => {
    const crew = await crewOf(2, config())
    const { owner, workers } = crew.pids()
    const pids = [owner, ...workers.values()]
    expect(pids.every(isAlive)).toBe(true)
    const folders = async () =>
      (await readdir(tmpdir())).filter((name) => /^sluice-\w{6}$/.test(name)).length
    const before = await folders()
    crew.kill(signal)
    await until('all are gone', 20_000, async () => !pids.some(isAlive))
    await until('its folder too', 5000, async () => (await folders()) < before)
    expect(crew.logged().filter(({ level }) => level === 'error')).toEqual([])
  },
)

test('signals to the whole group, as terminals send them, drain it all the same', async () => {
  const crew = await crewOf(2, config())
  for (const pid of [...crew.pids().workers.values(), crew.pids().owner])
    process.kill(pid, 'SIGTERM')
  expect(allowedOf(await ask(crew, 5))).toBe(5)
  crew.kill('SIGTERM')
  expect((await crew.ended)[0]).toBe(0)
  expect(crew.logged().filter(({ level }) => level === 'error')).toEqual([])
})

test('workers that always end at once are given up, with a reason', async () => {
  const crew = await crewOf(2, config())
  const killing = setInterval(() => {
    for (const pid of childrenOf(crew.pid)) if (pid !== crew.pids().owner) kill(pid)
  }, 20)
  const [code, errors] = await crew.ended
  clearInterval(killing)
  expect(code).toBe(1)
  expect(errors).toMatch(
    /error: the worker ended 5 times in a row right after its start \(SIGKILL\)\n$/,
  )
})

test('descriptor files that have become wrong are told by every worker, until they are mended', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-descriptors-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'limits.yaml')
  const limits = (requests: number | string) =>
    `domain: shop\ndescriptors:\n  - key: user\n    rate_limit: { unit: year, requests_per_unit: ${requests} }\n`
  writeFileSync(file, limits(1))
  const envoy = { files: [file] }
  const env = { SLUICE_GRPC_PORT: String(await freePort()) }
  const { get, kill: signal } = await crewOf(2, { ...config(), envoy }, env)
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

test.each(['/proc/nobody', `/tmp/${'x'.repeat(100)}`])(
  'without a good place for its socket it does not start: %s',
  async (TMPDIR) => {
    const started = crewOf(2, config(), { TMPDIR })
    await expect(started).rejects.toThrow(`error: the workers' socket cannot be in ${TMPDIR}: `)
  },
)

test('a port in use is one sentence, and nothing is left running', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const started = crewOf(2, config(), { SLUICE_HTTP_PORT: String(port) })
  await expect(started).rejects.toThrow(`cannot listen on 127.0.0.1:${port}: it is in use`)
  other.close()
})

test('what the admin API of one worker changes holds in all of them, and it finds the keys of the owner', async () => {
  const token = 'a-token-that-is-long-enough-for-tests-0123456789'
  const crew = await crewOf(3, config('50/h', { listeners: { admin: { port: 0 } } }), {
    SLUICE_ADMIN_TOKEN: token,
  })
  const admin = crew.logged().find(({ listener }) => listener === 'admin')!['url'] as string
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
  expect(allowedOf(await ask(crew, 6, 'seen'))).toBe(6)
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
      Array.from({ length: 12 }, () => crew.post('/v1/check', { key: 'bad' })),
    )
    return answers.every(({ reason }) => reason === 'blocked')
  })
  expect(await figure(crew, 'sluice_blocks')).toBe(1)
})

test('owners that are killed and files that change under load cost no answer', async () => {
  const crew = await crewOf(2, config('5/h'))
  const load = startLoad(crew.url, 16)
  await until('load runs', 30_000, async () => load.result.answered > 300)
  for (let round = 0; round < 3; round++) {
    const { owner } = crew.pids()
    process.kill(owner, 'SIGKILL')
    for (let i = 0; i < 10; i++) {
      writeFileSync(crew.file, JSON.stringify(config(`${5 + round * 10 + i}/h`)))
      crew.kill('SIGHUP')
    }
    await until('there is another owner', 60_000, async () => crew.pids().owner !== owner)
  }
  await until('the last file is in force', 20_000, async () =>
    (await crew.get('/v1/policies')).text.includes('"quota":34'),
  )
  const before = load.result.answered
  await until('load goes on', 30_000, async () => load.result.answered > before + 300)
  const { faults, refused } = await load.stop()
  expect([faults, refused]).toEqual([[], 0])
})
