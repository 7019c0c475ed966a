// The whole service while nobody reads its log, and its audit file is a pipe that nobody reads either.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../../../test/servers/redis-server.ts'
import { until } from '../../../test/servers/until.ts'
import { fileWith, sluice, type Command } from './sluice.ts'

const TOKEN = 'operator-token-for-unread-0123456789'

/** A pipe whose reader is there and reads nothing. */
function unreadPipe(): string {
  const pipe = join(dirname(fileWith('')), 'audit')
  execFileSync('mkfifo', [pipe])
  const reader = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
  onTestFinished(() => closeSync(reader))
  return pipe
}

async function portsOf({ child, errors }: Command): Promise<(listener: string) => string> {
  const urls = await until('it listens', 20_000, async () => {
    if (child.exitCode !== null) throw new Error(errors())
    const found = [...errors().matchAll(/"listener":"(http|admin)","url":"([^"]+)"/g)]
    return found.length >= 2 && new Map(found.map(([, name, url]) => [name!, url!]))
  })
  return (listener) => urls.get(listener)!
}

/** A change that is refused, with an audit line of ten thousand characters. */
async function change(admin: string): Promise<number> {
  const attributes = Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [`name-${i}`, 'x'.repeat(200)]),
  )
  const { status } = await fetch(`${admin}/v1/admin/block`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ attributes }),
  })
  return status
}

test.each([
  ['one process', 1],
  ['two workers', 2],
])('goes on and ends with %s', { timeout: 120_000 }, async (_, workers) => {
  const redis = workers > 1 ? await startRedis() : undefined
  onTestFinished(async () => redis?.stop())
  const file = fileWith(`
policies: [{ name: api, rules: [{ name: all, by: [], limit: 5/h }] }]
workers: ${workers}
${redis === undefined ? '' : `store: '${redis.url}'`}
listeners: { http: { port: 0 }, admin: { port: 0, auditFile: '${unreadPipe()}' } }
`)
  const env = { SLUICE_ADMIN_TOKEN: TOKEN, SLUICE_SHUTDOWN_DELAY: '1ms' }
  const service = sluice(['serve', file], env)
  const url = await portsOf(service)
  service.child.stderr!.pause()
  const dropped = async (what: string): Promise<boolean> => {
    const text = await (await fetch(`${url('http')}/metrics`)).text()
    return Number(new RegExp(`^sluice_${what}_lines_dropped_total (\\d+)`, 'm').exec(text)?.[1]) > 0
  }
  const statuses = new Set<number>()
  await until('both have dropped lines', 60_000, async () => {
    for (const status of await Promise.all(Array.from({ length: 50 }, () => change(url('admin')))))
      statuses.add(status)
    return (await dropped('log')) && (await dropped('admin_audit'))
  })
  expect([...statuses]).toEqual([400])
  expect((await fetch(`${url('http')}/healthz`)).status).toBe(200)
  const exit = once(service.child, 'exit')
  service.child.kill('SIGTERM')
  expect((await exit)[0]).toBe(0)
})
