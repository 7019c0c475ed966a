// A service that has no file descriptors left when its file changes: it reads the file again once it has.
import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../../../test/servers/redis-server.ts'
import { until } from '../../../test/servers/until.ts'
import { fileWith, sluice, urlOf } from './sluice.ts'

/** Longer than what is read in a thread of its own. */
const FILLER = '# filler\n'.repeat(5000)

const yaml = (quota: number, rest: string): string =>
  `policies: [{ name: api, rules: [{ name: all, by: [], limit: ${quota}/h }] }]\n${rest}`

/** Leaves a process so many file descriptors that it may still open. Returns what takes that back. */
function leaveDescriptors(pid: number, count: number): () => void {
  const isOpen = new Set(readdirSync(`/proc/${pid}/fd`).map(Number))
  let limit = 0
  for (let free = 0; free < count || isOpen.has(limit); limit++) if (!isOpen.has(limit)) free += 1
  const set = (soft: number | string): void =>
    void execFileSync('prlimit', ['--pid', String(pid), `--nofile=${soft}:`])
  set(limit)
  return () => set(1024)
}

test.each<[string, workers: number, left: number, filler: string]>([
  ['one process', 1, 0, ''],
  ['one process, whose file needs a thread', 1, 1, FILLER],
  ['two workers', 2, 0, ''],
])('a reload that met EMFILE is tried again: %s', async (_, workers, left, filler) => {
  const redis = workers > 1 ? await startRedis() : undefined
  onTestFinished(async () => redis?.stop())
  const rest = `workers: ${workers}
${redis === undefined ? '' : `store: '${redis.url}'`}
listeners: { http: { port: 0 } }
${filler}`
  const file = fileWith(yaml(5, rest))
  // Without watching, only the signal and the attempts after it read the file.
  const service = sluice(['serve', '--no-watch', file])
  const url = await urlOf(service)
  const giveBack = leaveDescriptors(service.child.pid!, left)
  writeFileSync(file, yaml(7, rest))
  service.child.kill('SIGHUP')
  await until('the file cannot be read', 30_000, async () => {
    if (service.child.exitCode !== null) throw new Error(service.errors())
    return service.errors().includes('the old one stays')
  })
  expect(service.errors()).toContain('EMFILE')
  giveBack()
  await until('every worker has the new limit', 30_000, async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const body = JSON.stringify({ policy: 'api', attributes: {} })
        const headers = { 'content-type': 'application/json', connection: 'close' }
        return (await fetch(`${url}/v1/check`, { method: 'POST', headers, body })).json()
      }),
    )
    return answers.every((answer) => JSON.stringify(answer).includes('"quota":7'))
  })
})
