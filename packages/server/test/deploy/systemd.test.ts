// The unit of systemd, judged by systemd itself.
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { duration } from 'sluice'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../../src/config/read-config.ts'

const unit = new URL('../../../../deploy/systemd/sluice.service', import.meta.url)
const text = readFileSync(unit, 'utf8')
let folder: string
let file: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-unit-'))
  file = join(folder, 'sluice.service')
  // The command is not installed here.
  const command = join(folder, 'sluice')
  writeFileSync(command, '#!/bin/sh\n')
  chmodSync(command, 0o755)
  writeFileSync(file, text.replaceAll('/usr/local/bin/sluice', command))
})
afterAll(() => rmSync(folder, { recursive: true }))

const analyze = (...args: string[]) =>
  promisify(execFile)('systemd-analyze', [...args, file]).catch(
    (error: { stdout: string }) => error,
  )

test('systemd understands every line of it', async () => {
  expect(await analyze('verify', '--man=no')).toMatchObject({ stdout: '', stderr: '' })
})

test('systemd finds it well protected', async () => {
  const { stdout } = await analyze('security', '--offline=true', '--no-pager')
  const exposure = Number(/Overall exposure level for sluice\.service: ([\d.]+)/.exec(stdout)?.[1])
  expect(exposure).toBeLessThan(2)
})

test('it has patience for longer than the service needs to end', () => {
  const policies = [{ name: 'api', rules: [{ name: 'all', by: [], limit: '1/s' }] }]
  const { config } = readConfig(JSON.stringify({ policies }), 'x')
  const { delay, patience } = config!.shutdown
  const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1])
  expect(seconds * 1000).toBeGreaterThan(delay + patience + duration('5s'))
})

test('the commands are ones that there are', () => {
  const commands = [...text.matchAll(/^Exec\w+=\/usr\/local\/bin\/sluice (.*)$/gm)]
  expect(commands.map(([, args]) => args)).toEqual([
    'check /etc/sluice/sluice.yaml',
    'serve --no-banner /etc/sluice/sluice.yaml',
  ])
})
