// `node bench/coordination/paced.mjs [decisions/s] [seconds] [keys]`: what one of 8 processes and the server cost per decision at a given rate.
//
// Time is virtual: each decision moves it on. So neighbours on the machine change neither the rate nor what is leased, and the
// processor time is that of a process that really gets so many requests per second. Memory, in the same loop, is the floor.
import { Redis } from 'ioredis'
import { createLimiter, memoryStore } from 'sluice'
import { LeaseStats, withCoordination } from 'sluice/coordination'
import { ioredisOptions, redisStore } from 'sluice/redis'
import { cpuSeconds } from '../lib/cpu.mjs'
import { sampler, seededRandom, zipfShares } from '../lib/random.mjs'
import { startRedisServer } from '../lib/redis-server.mjs'
import { figure, markdownTable } from '../lib/table.mjs'
import { callsOf, serverCpuOf } from './server-calls.mjs'

const RATE = Number(process.argv[2] ?? 1_500_000) / 8
const LENGTH = 1000 * Number(process.argv[3] ?? 4)
const KEYS = Number(process.argv[4] ?? 100_000)
/** Until the first long leases have ended. */
const WARM_UP = 64_000
const DRAWN = 2 ** 21
const TOGETHER = 256
const IN_FLIGHT = 512

let now = 1e12
/** @type {Set<{ at: number, run: () => void }>} */
const timers = new Set()
const environment = {
  clock: { now: () => now },
  random: seededRandom(7),
  timers: {
    /** @param {() => void} run @param {number} after */
    start(run, after) {
      const timer = { at: now + after, run }
      timers.add(timer)
      return timer
    },
    /** @param {unknown} timer */
    stop: (timer) => void timers.delete(/** @type {any} */ (timer)),
    /** @param {() => void} run */
    afterTurn: (run) => void setImmediate(() => run()),
  },
}
const turn = () => new Promise((resolve) => void setImmediate(resolve))
const next = sampler(zipfShares(KEYS, 1.1), seededRandom(1))
const drawn = Uint32Array.from({ length: DRAWN }, () => next())
const users = Array.from({ length: KEYS }, (_, i) => ({ user: `user ${i}` }))
const limit = /** @type {const} */ ({ algorithm: 'token-bucket', quota: 500_000, window: '1s' })
const rule = { name: 'api', by: ['user'], limit, onStoreFailure: /** @type {const} */ ('closed') }

/** @typedef {import('sluice').Decision} Decision */
/** @typedef {{ now: (user: { user: string }) => Decision | undefined, later?: (user: { user: string }) => Promise<Decision>, grants: () => number }} Contender */

const server = await startRedisServer()
const client = new Redis(ioredisOptions({ host: '127.0.0.1', port: server.port }))

/** @returns {Contender} */
function inMemory() {
  const policy = { name: 'bench', rules: [rule] }
  const limiter = createLimiter({ policy, store: memoryStore({ clock: () => Math.floor(now) }) })
  return { now: (user) => limiter.check(user), grants: () => 0 }
}

/** @returns {Contender} */
function leased() {
  const options = { timeout: 5000, onWarning: () => {}, clock: () => Math.floor(now) }
  const stats = new LeaseStats()
  const store = withCoordination(redisStore(client, options), { stats }, environment)
  const policy = {
    name: 'bench',
    rules: [{ ...rule, coordination: /** @type {const} */ ('leased') }],
  }
  const limiter = createLimiter({ policy, store, resilience: { onEvent() {} } })
  return {
    now: (user) => limiter.checkNow(user),
    later: (user) => limiter.check(user),
    grants: () => stats.grants,
  }
}

/** @param {string} name @param {Contender} contender @returns {Promise<string[]>} */
async function measure(name, contender) {
  let [decisions, misses, place, underWay] = [0, 0, 0, 0]
  const decideFor = async (/** @type {number} */ millis) => {
    const end = now + millis
    while (now < end) {
      while (underWay >= IN_FLIGHT) await turn()
      for (let i = 0; i < TOGETHER; i++) {
        now += 1000 / RATE
        const key = /** @type {number} */ (drawn[place++ & (DRAWN - 1)])
        const user = /** @type {{ user: string }} */ (users[key])
        decisions++
        if (contender.now(user) !== undefined) continue
        misses++
        underWay++
        void contender.later?.(user).then(() => void underWay--)
      }
      for (const timer of timers)
        if (timer.at <= now) {
          timers.delete(timer)
          timer.run()
        }
      await turn()
    }
  }
  // A server that is used for the first time leases nothing for one life.
  while ((await contender.later?.({ user: 'first' }))?.degraded === true) now += 100
  await decideFor(contender.later === undefined ? LENGTH : WARM_UP)
  const [before, missedBefore, grantsBefore] = [decisions, misses, contender.grants()]
  const [serverBefore, callsBefore] = [await serverCpuOf(server.port), await callsOf(server.port)]
  const cpuBefore = cpuSeconds()
  await decideFor(LENGTH)
  const cpu = cpuSeconds() - cpuBefore
  const all = decisions - before
  const serverCpu = (await serverCpuOf(server.port)) - serverBefore
  const calls = (await callsOf(server.port)) - callsBefore
  const percent = (/** @type {number} */ part) => `${((100 * part) / all).toFixed(2)} %`
  return [
    name,
    percent(misses - missedBefore),
    percent(contender.grants() - grantsBefore),
    percent(calls),
    ((1e6 * cpu) / all).toFixed(2),
    ((1e6 * serverCpu) / all).toFixed(2),
    figure((2 * all) / (cpu + serverCpu)),
  ]
}

const rows = [await measure('memory', inMemory()), await measure('leased', leased())]
const head =
  'store,without a lease,leases taken,calls,process µs,server µs,decisions/s that fit on two cores'
console.log(markdownTable(head.split(','), rows))
client.disconnect()
server.stop()
process.exit(0)
