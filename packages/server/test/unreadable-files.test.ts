// Every file that the service reads while it runs is read again after it could not be read, and reported once.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { until } from '../../../test/servers/until.ts'
import { TokenRing } from '../src/admin/token-ring.ts'
import { DomainFiles } from '../src/envoy/files/domain-files.ts'
import type { Log } from '../src/log/log.ts'
import { Retry } from '../src/reload/retry.ts'

afterEach(() => void vi.useRealTimers())

const fakeTimers = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })

function fileOf(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-retry-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'file.yaml')
  writeFileSync(file, text)
  return file
}

function logged() {
  const errors: string[] = []
  const error = (_: object, message: string): void => void errors.push(message)
  const log: Log = { debug() {}, info() {}, warn() {}, error }
  return { log, errors }
}

test('an attempt is made once, a second later, and none after the end', () => {
  fakeTimers()
  const attempt = vi.fn<() => void>()
  const retry = new Retry(attempt)
  retry.later()
  retry.later()
  vi.advanceTimersByTime(999)
  expect(attempt).toHaveBeenCalledTimes(0)
  vi.advanceTimersByTime(1)
  expect(attempt).toHaveBeenCalledTimes(1)
  retry.later()
  retry.close()
  retry.later()
  vi.advanceTimersByTime(10_000)
  expect(attempt).toHaveBeenCalledTimes(1)
})

test('descriptor files', () => {
  fakeTimers()
  const { log, errors } = logged()
  const file = fileOf('domain: one\n')
  const swap = vi.fn<(domains: readonly { domain: string }[]) => void>()
  const files = new DomainFiles([file], {}, { swap }, log)
  onTestFinished(() => files.close())
  renameSync(file, `${file}.away`)
  expect(files.reload()).toBe('failed')
  vi.advanceTimersByTime(3000)
  expect(errors).toHaveLength(1)
  writeFileSync(file, 'domain: two\n')
  vi.advanceTimersByTime(1000)
  expect(swap.mock.lastCall![0].map(({ domain }) => domain)).toEqual(['two'])
  expect(files.problems).toEqual([])
})

test('admin tokens', async () => {
  const { log, errors } = logged()
  const file = fileOf(`old ${'a'.repeat(30)}\n`)
  const ring = new TokenRing({} as never, file, log)
  await ring.open(false)
  onTestFinished(() => ring.close())
  renameSync(file, `${file}.away`)
  await ring.reload()
  await ring.reload()
  expect(errors).toHaveLength(1)
  writeFileSync(file, `new ${'b'.repeat(30)}\n`)
  await until('they are read again', 5000, async () => ring.all[0]?.name === 'new')
})
