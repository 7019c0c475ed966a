import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Policy } from 'sluice'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { loadConfig } from '../config/load-config.ts'
import type { Log } from '../log/log.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import { Reloader } from './reloader.ts'

afterEach(() => void vi.useRealTimers())

const yaml = (quota: number) =>
  `policies: [{ name: api, rules: [{ name: all, by: [key], limit: ${quota}/h }] }]\n`

async function reloaderOf(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-reloader-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'sluice.yaml')
  writeFileSync(file, text)
  const { config, digest } = await loadConfig(file)
  const errors: object[] = []
  const log = { debug() {}, info() {}, warn() {}, error: (fields: object) => errors.push(fields) }
  let policies: readonly Policy[] = config!.policies
  let generation = 1
  const registry = {
    get current() {
      return { generation, policies }
    },
    swap(next: readonly Policy[]) {
      policies = next
      generation++
    },
  }
  const source = { file, digest, config: config!, environment: {} }
  const reloader = new Reloader(source, registry, new MetricRegistry(), log as unknown as Log)
  onTestFinished(() => reloader.close())
  return { file, reloader, registry, errors }
}

test('a file that could not be read is read again, and reported once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { file, reloader, registry, errors } = await reloaderOf(yaml(1))
  renameSync(file, `${file}.away`)
  expect(await reloader.reload()).toBe('failed')
  vi.advanceTimersByTime(1000)
  expect(await reloader.reload()).toBe('failed')
  expect(errors).toHaveLength(1)
  writeFileSync(file, yaml(2))
  vi.advanceTimersByTime(1000)
  // Waits for the attempt that the timer has begun.
  await reloader.reload()
  expect(registry.current.policies[0]!.rules[0]!.limit).toMatchObject({ quota: 2 })
  expect(reloader.status).toEqual({ generation: 2 })
})

test('a file with tens of thousands of mistakes changes nothing and is reported in short', async () => {
  const { file, reloader, errors } = await reloaderOf(yaml(1))
  const rules = Array.from({ length: 24_000 }, () => '{}').join(', ')
  writeFileSync(file, `policies: [{ name: api, rules: [${rules}] }]\n`)
  expect(await reloader.reload()).toBe('failed')
  expect(reloader.status.generation).toBe(1)
  expect(reloader.status.reloadProblems!.length).toBeLessThanOrEqual(201)
  expect(JSON.stringify(errors).length).toBeLessThan(100_000)
})
