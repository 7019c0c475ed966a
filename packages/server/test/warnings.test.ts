// The warnings of `sluice check` reach the log of the service: each once, and after a reload only new ones.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadForStart } from '../src/review/load-for-start.ts'
import { running, type Running } from './running.ts'

const rule = (name: string, by: string) => `      - { name: ${name}, by: [${by}], limit: 5/min }\n`
const yaml = (...rules: string[]) => `policies:\n  - name: api\n    rules:\n${rules.join('')}`

/** A service from a file, as `sluice serve` starts it. */
async function served(text: string): Promise<{ service: Running; file: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-warnings-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'sluice.yaml')
  writeFileSync(file, text)
  const { config, digest, warnings } = await loadForStart(file)
  const source = { file, digest, watch: false as const }
  return { file, service: await running({ policies: config!.policies }, { source, warnings }) }
}

const warned = ({ logged }: Running) =>
  (logged() as Partial<Record<'level' | 'code' | 'line' | 'msg', string>>[]).flatMap(
    ({ level, code, line, msg = '' }) =>
      level === 'warn' && line !== undefined ? [`${code} ${line} ${msg.split(',')[0]}`] : [],
  )

test('a service logs each warning of its file once, with its code and place', async () => {
  const { service, file } = await served(yaml(rule('per-user', 'usr'), rule('raw', 'path')))
  expect(warned(service)).toEqual([
    'unset-attribute 4 rule per-user counts by usr',
    'raw-path 5 rule raw counts by path: every different path gets a count of its own',
  ])
  const [first] = service.logged()
  expect(first).toMatchObject({ file, column: 32, path: 'policies[0].rules[0].by[0]' })
  expect(String(first!['help'])).toContain('#unset-attribute')
})

test('a reload logs the warnings that are new, wherever the rules have moved', async () => {
  const { service, file } = await served(yaml(rule('per-user', 'usr')))
  writeFileSync(file, yaml(rule('all', 'user'), rule('per-user', 'usr'), rule('b', 'tennant')))
  expect(await service.reload()).toBe('applied')
  expect(warned(service)).toEqual([
    'unset-attribute 4 rule per-user counts by usr',
    'unset-attribute 6 rule b counts by tennant',
  ])
  writeFileSync(file, yaml(rule('per-user', 'user')))
  expect(await service.reload()).toBe('applied')
  writeFileSync(file, yaml(rule('per-user', 'usr')))
  expect(await service.reload()).toBe('applied')
  expect(warned(service).slice(2)).toEqual(['unset-attribute 4 rule per-user counts by usr'])
})

test('a service that is started by code logs what its configuration shows', async () => {
  const service = await running({
    policies: [{ name: 'api', rules: [{ name: 'per-user', by: ['usr'], limit: '5/min' }] }],
  })
  expect(service.logged()).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      code: 'unset-attribute',
      path: 'policies[0].rules[0].by[0]',
    }),
  )
})

test('of hundreds of warnings the first ones are logged, and how many there are beside them', async () => {
  const rules = Array.from({ length: 130 }, (_, i) => rule(`r${i}`, 'usr'))
  const { service } = await served(yaml(...rules))
  expect(warned(service)).toHaveLength(100)
  expect(service.logged()).toContainEqual(
    expect.objectContaining({
      msg: '159 more warnings of the configuration; run sluice check to see them',
    }),
  )
})
