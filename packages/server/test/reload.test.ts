// Live reload: all at once, without an error, and a bad file changes nothing.
import { mkdtempSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lengthOf } from '../../../test/length.ts'
import { until } from '../../../test/servers/until.ts'
import { loadConfig } from '../src/config/load-config.ts'
import { startLoad } from './load.ts'
import { running, type Running } from './running.ts'

const yaml = (quota: number, window = 'h') =>
  `policies: [{ name: api, rules: [{ name: all, by: [key], limit: ${quota}/${window} }] }]\n`

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'sluice-reload-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A service from a file, which is watched fast enough for a test. */
async function fromFile(file: string, watched = true): Promise<Running> {
  const { config, digest } = await loadConfig(file)
  const watch = watched ? { settle: 20, poll: 100 } : (false as const)
  return running({ policies: config!.policies }, { source: { file, digest, watch } })
}

/** Replaces a file at once, as careful editors and deployments do. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}.next`, text)
  renameSync(`${file}.next`, file)
}

const quotaOf = async ({ get }: Running) => {
  const { policies } = (await get('/v1/policies')).body as unknown as {
    policies: { rules: { limit: { quota: number } }[] }[]
  }
  return policies[0]!.rules[0]!.limit.quota
}
/** The quota once it has changed to this, or what it stays. */
const quotaAfter = async (service: Running, quota: number) => {
  const changed = async () => (await quotaOf(service)) === quota
  await until('the quota changes', 5000, changed).catch(() => {})
  return quotaOf(service)
}

describe('a change is noticed', () => {
  test('in place, more than once', async () => {
    const file = join(folder(), 'sluice.yaml')
    writeFileSync(file, yaml(1))
    const service = await fromFile(file)
    for (const quota of [2, 3]) {
      writeFileSync(file, yaml(quota))
      expect(await quotaAfter(service, quota)).toBe(quota)
    }
  })

  test('by a rename, more than once', async () => {
    const file = join(folder(), 'sluice.yaml')
    writeFileSync(file, yaml(1))
    const service = await fromFile(file)
    for (const quota of [2, 3]) {
      replace(file, yaml(quota))
      expect(await quotaAfter(service, quota)).toBe(quota)
    }
  })

  test('behind the links of a Kubernetes volume, more than once', async () => {
    const path = folder()
    const publish = (quota: number) => {
      mkdirSync(join(path, `..${quota}`))
      writeFileSync(join(path, `..${quota}`, 'sluice.yaml'), yaml(quota))
      symlinkSync(`..${quota}`, join(path, '..data_tmp'))
      renameSync(join(path, '..data_tmp'), join(path, '..data'))
    }
    publish(1)
    symlinkSync('..data/sluice.yaml', join(path, 'sluice.yaml'))
    const service = await fromFile(join(path, 'sluice.yaml'))
    for (const quota of [2, 3]) {
      publish(quota)
      expect(await quotaAfter(service, quota)).toBe(quota)
    }
  })

  test('through a link to another folder, which only looking finds', async () => {
    const [here, there] = [folder(), folder()]
    writeFileSync(join(there, 'real.yaml'), yaml(1))
    symlinkSync(join(there, 'real.yaml'), join(here, 'sluice.yaml'))
    const service = await fromFile(join(here, 'sluice.yaml'))
    replace(join(there, 'real.yaml'), yaml(2))
    expect(await quotaAfter(service, 2)).toBe(2)
  })
})

test('a bad file keeps the old policies and says so everywhere, until it is mended', async () => {
  const file = join(folder(), 'sluice.yaml')
  writeFileSync(file, yaml(3))
  const service = await fromFile(file, false)
  const { get, reload, logged, metrics } = service
  writeFileSync(file, yaml(5).replace('limit', 'limt'))
  expect(await reload()).toBe('failed')
  expect(await quotaOf(service)).toBe(3)
  const ready = await get('/readyz')
  expect(ready).toMatchObject({ status: 200, body: { status: 'serving', generation: 1 } })
  expect(JSON.stringify(ready.body)).toContain(`${file}:1:57: policies[0].rules[0].limt is not`)
  expect(await metrics()).toContain('sluice_config_valid 0\n')
  expect(logged().filter(({ level }) => level === 'error')).toMatchObject([
    { file, msg: 'the changed file is not valid; the old one stays' },
  ])
  rmSync(file)
  expect(await reload()).toBe('failed')
  writeFileSync(file, yaml(5))
  expect(await reload()).toBe('applied')
  expect(await reload()).toBe('unchanged')
  expect((await get('/readyz')).body).toEqual({ status: 'serving', generation: 2 })
  const text = await metrics()
  expect(text).toContain('sluice_config_valid 1\n')
  expect(text).toContain('sluice_config_reloads_total{result="applied"} 1\n')
  expect(text).toContain('sluice_config_reloads_total{result="failed"} 2\n')
})

test('counts outlive a new quota, and begin afresh with a new window', async () => {
  const file = join(folder(), 'sluice.yaml')
  writeFileSync(file, yaml(5))
  const { post, reload } = await fromFile(file, false)
  const remaining = async () => (await post('/v1/peek', { key: 'a' })).body.remaining
  await post('/v1/check', { key: 'a', cost: 4 })
  expect(await remaining()).toBe(1)
  writeFileSync(file, yaml(10))
  await reload()
  expect(await remaining()).toBe(6)
  writeFileSync(file, yaml(10, 'd'))
  await reload()
  expect(await remaining()).toBe(10)
})

test('what needs a new start is said', async () => {
  const file = join(folder(), 'sluice.yaml')
  writeFileSync(file, yaml(5))
  const { reload, logged } = await fromFile(file, false)
  writeFileSync(file, `${yaml(6)}log: debug\n`)
  expect(await reload()).toBe('applied')
  expect(logged().find(({ level }) => level === 'warn')).toMatchObject({
    msg: 'these changes take effect at the next start',
    fields: expect.arrayContaining(['log']) as unknown,
  })
})

test('hundreds of reloads under load make no error', async () => {
  const file = join(folder(), 'sluice.yaml')
  writeFileSync(file, yaml(1))
  const service = await fromFile(file, false)
  const load = startLoad(service.url, 3)
  const last = lengthOf(250, 1000) + 1
  for (let quota = 2; quota <= last; quota++) {
    replace(file, yaml(quota))
    expect(await service.reload()).toBe('applied')
  }
  const { faults, answered } = await load.stop()
  expect(faults).toEqual([])
  expect(answered).toBeGreaterThan(100)
  expect((await service.get('/readyz')).body.generation).toBe(last)
})
