// Slots of a fleet: eight processes at one Redis, two of them killed inside.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compileProgram, type Program } from '../../../../test/compile.ts'
import { startRedis, type RedisServer } from '../../../../test/servers/redis-server.ts'
import { until } from '../../../../test/servers/until.ts'
import { HOLD, INSIDE, SLOTS, slotBudget, type SlotOrders, type SlotReport } from './slot-worker.ts'

const PROCESSES = 8

let server: RedisServer
let client: Redis
let program: Program
const fleet: ChildProcess[] = []
beforeAll(async () => {
  ;[server, program] = await Promise.all([
    startRedis(),
    compileProgram('packages/sluice/test/redis/slot-worker.ts'),
  ])
  client = new Redis(server.url)
}, 60_000)
afterAll(async () => {
  for (const child of fleet) child.kill('SIGKILL')
  client.disconnect()
  program.remove()
  await server.stop()
})

/** All reports of how many were inside. */
const seen: number[] = []

function start(name: string): ChildProcess {
  const orders: SlotOrders = { port: server.port, name }
  const child = fork(program.script, [JSON.stringify(orders)], { execArgv: [] })
  child.on('message', (report: SlotReport) => seen.push(report.inside))
  fleet.push(child)
  return child
}

/** Resolves when the process has come in so many times more. */
async function entries(child: ChildProcess, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await once(child, 'message')
}

/** Makes the process stay inside; resolves when it is. */
async function stay(child: ChildProcess): Promise<void> {
  const stays = new Promise<void>((resolve) => {
    child.on('message', (report: SlotReport) => {
      if (report.stays) resolve()
    })
  })
  child.send('stay')
  await stays
}

async function ended(child: ChildProcess, end: () => void): Promise<void> {
  const exit = once(child, 'exit')
  end()
  await exit
}

async function serverTime(): Promise<number> {
  const [seconds, micros] = await client.time()
  return Number(seconds) * 1000 + Number(micros) / 1000
}

it('lets no more processes in than there are slots, and frees those of killed ones within one hold', async () => {
  const names = Array.from({ length: PROCESSES }, (_, i) => String(i))
  const all = names.map((name) => start(name))
  const [doomed, others] = [all.slice(0, 2), all.slice(2)]
  await Promise.all(all.map((child) => entries(child, 5)))

  await Promise.all(doomed.map((child) => stay(child)))
  await Promise.all(others.map((child) => entries(child, 3)))
  await Promise.all(doomed.map((child) => ended(child, () => child.kill('SIGKILL'))))
  const killedAt = await serverTime()
  await client.srem(INSIDE, ...names.slice(0, 2))
  await Promise.all(others.map((child) => entries(child, 3)))
  await Promise.all(others.map((child) => ended(child, () => child.send('stop'))))
  expect(Math.max(...seen)).toBeLessThanOrEqual(SLOTS)

  await until(
    'one hold after the kill',
    60_000,
    async () => (await serverTime()) >= killedAt + HOLD,
  )
  const budget = slotBudget(client)
  const entered: boolean[] = []
  for (let i = 0; i <= SLOTS; i++) entered.push((await budget.enter({ queue: 'mail' })).allowed)
  expect(entered).toEqual([...Array.from({ length: SLOTS }, () => true), false])
  await budget.close()
}, 60_000)
