// Eight processes share one outbound budget at a real Redis: exactly the limit, in order, and everybody gets on.
import { execFile, fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import type { WorkerOrders, WorkerReport } from './paced-worker.ts'
import { seeded } from './simulated-server.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const worker = 'packages/sluice/test/client/paced-worker'
const children = new Set<ChildProcess>()
let folder: string
let server: RedisServer

/** Node runs JavaScript alone: the worker is compiled into a folder from which it finds its client. */
async function compile(): Promise<void> {
  const cache = join(root, 'node_modules/.cache/sluice')
  mkdirSync(cache, { recursive: true })
  folder = mkdtempSync(join(cache, 'paced-'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const options =
    '--ignoreConfig --noCheck --module nodenext --target es2023 --rewriteRelativeImportExtensions'
  const places = ['--rootDir', root, '--outDir', folder, join(root, `${worker}.ts`)]
  const tsc = join(root, 'node_modules/.bin/tsc')
  await promisify(execFile)(tsc, [...options.split(' '), ...places])
}

beforeAll(async () => {
  ;[server] = await Promise.all([startRedis(), compile()])
}, 120_000)
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
  await server.stop()
})

/** Starts processes, lets all of them begin at once, and gathers their reports. */
async function fleet(orders: readonly WorkerOrders[]): Promise<readonly WorkerReport[]> {
  const started = orders.map((one) => {
    const child = fork(join(folder, `${worker}.js`), [JSON.stringify(one)], { execArgv: [] })
    children.add(child)
    child.once('exit', () => children.delete(child))
    return child
  })
  await Promise.all(started.map((child) => once(child, 'message')))
  const reports = started.map(async (child) => (await once(child, 'message'))[0] as WorkerReport)
  for (const child of started) child.send('begin')
  return Promise.all(reports)
}

it(
  'exactly the limit in any span, in order, and everybody gets on',
  { timeout: 120_000 },
  async () => {
    const [PROCESSES, TURNS, QUOTA, BURST] = [8, 60, 200, 20]
    const random = seeded(9)
    const orders = Array.from({ length: PROCESSES }, (): WorkerOrders => {
      const costs = Array.from({ length: TURNS }, () => 1 + Math.floor(random() * 3))
      return { url: server.url, limit: { quota: QUOTA, window: '1s', burst: BURST }, costs }
    })
    const reports = await fleet(orders)

    // In order within each process, and nothing is lost.
    const asked = Array.from({ length: TURNS }, (_, i) => i)
    for (const { turns } of reports) expect(turns.map(({ index }) => index)).toEqual(asked)

    // Never more than the bucket holds and gains, between any two instants of the server's.
    const charges = reports.flatMap((report) => report.charges).toSorted((a, b) => a.at - b.at)
    const units = charges.reduce((sum, charge) => sum + charge.units, 0)
    expect(units).toBe(orders.flatMap(({ costs }) => costs).reduce((sum, cost) => sum + cost, 0))
    let most = 0
    for (const [i, first] of charges.entries()) {
      let sum = 0
      for (const { units: cost, at } of charges.slice(i)) {
        sum += cost
        most = Math.max(most, sum - ((at - first.at) * QUOTA) / 1000)
      }
    }
    expect(most).toBeLessThanOrEqual(BURST)

    // When half of all turns have come, everybody has had some, however busy the machine is.
    const all = reports.flatMap(({ turns }, process) => turns.map(({ at }) => ({ at, process })))
    const firstHalf = all.toSorted((a, b) => a.at - b.at).slice(0, all.length / 2)
    const shares = reports.map((_, i) => firstHalf.filter(({ process }) => process === i).length)
    const seconds = (charges.at(-1)!.at - charges[0]!.at) / 1000
    console.log(
      `${PROCESSES} processes, ${units} units at ${QUOTA}/s with burst ${BURST}: ${seconds.toFixed(2)} s, ${((100 * (units - BURST)) / QUOTA / seconds).toFixed(1)} % of the rate; most at once ${most.toFixed(1)}; turns of each in the first half: ${shares.join(' ')}`,
    )
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(TURNS / 20)
  },
)
