// Eight processes share one outbound budget in a real Redis: never above the limit, in order, and none starves.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compileProgram, type Program } from '../../../../test/compile.ts'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import type { WorkerOrders, WorkerReport } from './paced-worker.ts'
import { seeded } from './simulated-server.ts'

const children = new Set<ChildProcess>()
let program: Program
let server: RedisServer

beforeAll(async () => {
  ;[server, program] = await Promise.all([
    startRedis(),
    compileProgram('packages/sluice/test/client/paced-worker.ts'),
  ])
}, 120_000)
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  program.remove()
  await server.stop()
})

/** Starts processes, lets them begin at once, and collects their reports. */
async function fleet(orders: readonly WorkerOrders[]): Promise<readonly WorkerReport[]> {
  const started = orders.map((one) => {
    const child = fork(program.script, [JSON.stringify(one)], { execArgv: [] })
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
  'pacers of eight processes never exceed the limit, keep their order, and none starves',
  { timeout: 120_000 },
  async () => {
    const [PROCESSES, TURNS, QUOTA, BURST] = [8, 60, 200, 20]
    const random = seeded(9)
    const orders = Array.from({ length: PROCESSES }, (): WorkerOrders => {
      const costs = Array.from({ length: TURNS }, () => 1 + Math.floor(random() * 3))
      return { url: server.url, limit: { quota: QUOTA, window: '1s', burst: BURST }, costs }
    })
    const reports = await fleet(orders)

    // In order within each process, and complete.
    const asked = Array.from({ length: TURNS }, (_, i) => i)
    for (const { turns } of reports) expect(turns.map(({ index }) => index)).toEqual(asked)

    // Between any two instants of the server: never more than the bucket holds and gains.
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

    // When half of all turns have come, each process has had some.
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
