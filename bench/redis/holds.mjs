// What reserve and settle cost on Redis, against one check: `node bench/redis/holds.mjs [rounds] [keys]`. Rounds are interleaved.
import { createLimiter } from 'sluice'
import { createBudget } from 'sluice/budgets'
import { redisStore } from 'sluice/redis'
import { pinToSecondCore } from '../lib/cores.mjs'
import { startRedisServer } from '../lib/redis-server.mjs'
import { ioredis } from './clients.mjs'
import { serverFigures } from './server-figures.mjs'

const ROUNDS = Number(process.argv[2] ?? 7)
/** With all cores busy, each of them sees a few reservations a second. */
const KEYS = Number(process.argv[3] ?? 10_000)
/** Operations in a round, by how many are in flight: so many that the code is compiled after the first. */
const LOADS = [
  { inFlight: 1, operations: 3000 },
  { inFlight: 64, operations: 40_000 },
]

const server = await startRedisServer({ core: pinToSecondCore(), args: [] })
const client = await ioredis(server.url)
const figures = await serverFigures(server.url)
const store = redisStore(client, { timeout: 5000, onWarning() {} })
const limit = '1000000000/h'
const limiter = createLimiter({
  policy: { name: 'checks', rules: [{ name: 'units', by: ['user'], limit }] },
  store,
})
const budget = createBudget({
  policy: { name: 'budgets', rules: [{ name: 'units', by: ['user'], limit, hold: '60s' }] },
  store,
})
let next = 0
const user = () => `user-${next++ % KEYS}`
const check = () => limiter.check({ user: user() })
const both = async () => {
  const { id } = await budget.reserve({ user: user() }, 100)
  await budget.settle(id, 80)
}

/** Microseconds per operation. @param {() => Promise<unknown>} run @param {typeof LOADS[number]} load */
async function measure(run, { inFlight, operations }) {
  const { result, served } = await figures.during(async () => {
    let left = operations
    const cpu = process.cpuUsage()
    const start = process.hrtime.bigint()
    const worker = async () => {
      while (left-- > 0) await run()
    }
    await Promise.all(Array.from({ length: inFlight }, worker))
    const wall = Number(process.hrtime.bigint() - start) / 1000
    const { user, system } = process.cpuUsage(cpu)
    return { wall: wall / operations, client: (user + system) / operations }
  })
  return { ...result, server: (served.cpuSeconds * 1e6) / operations }
}

const median = (/** @type {number[]} */ list) =>
  list.toSorted((a, b) => a - b)[list.length >> 1] ?? NaN

for (const load of LOADS) {
  for (const run of [check, both]) await measure(run, load)
  /** @type {Awaited<ReturnType<typeof measure>>[]} */
  const checks = []
  const boths = /** @type {typeof checks} */ ([])
  for (let i = 0; i < ROUNDS; i++) {
    checks.push(await measure(check, load))
    boths.push(await measure(both, load))
  }
  console.log(`${load.inFlight} in flight, µs per operation, medians of ${ROUNDS} rounds`)
  for (const name of /** @type {const} */ (['wall', 'client', 'server'])) {
    const one = median(checks.map((round) => round[name]))
    const two = median(boths.map((round) => round[name]))
    const ratio = median(boths.map((round, i) => round[name] / (checks[i]?.[name] ?? NaN)))
    console.log(
      `  ${name.padEnd(7)} check ${one.toFixed(1).padStart(7)}  reserve + settle ${two.toFixed(1).padStart(7)}  ratio ${ratio.toFixed(2)}`,
    )
  }
}
figures.close()
client.disconnect()
server.stop()
process.exit(0)
