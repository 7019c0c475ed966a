// One process of the fleet: decides as fast as it can for a while, and counts what it admitted of each key.
import { Redis } from 'ioredis'
import { createLimiter, memoryStore } from 'sluice'
import { withCoordination } from 'sluice/coordination'
import { ioredisOptions, redisStore } from 'sluice/redis'
import { inputFromParent, reportToParent } from '../lib/child.mjs'
import { cpuSeconds } from '../lib/cpu.mjs'
import { sampler, seededRandom, zipfShares } from '../lib/random.mjs'

const TOGETHER = 256
const IN_FLIGHT = 512
const SAMPLE = 61
/** Milliseconds before the figures count: until the first long leases have ended, and are taken anew as they are from then on. What is admitted in them counts for the limit. */
const WARM_UP = 64_000
/** The same without leases, and with those of one hot key. */
const SHORT_WARM_UP = 4000
/** Keys drawn before the run, which drawing would slow down; then they repeat. So many that a key of the tail does not come back sooner than it should. */
const DRAWN = 2 ** 21

/** @type {{ load: import('./fleet.mjs').Load, seed: number, port: number, length: number }} */
const { load, seed, port, length } = inputFromParent()
const { quota, burst, keys } = load
const limit = {
  algorithm: /** @type {const} */ ('token-bucket'),
  quota,
  window: /** @type {const} */ ('1s'),
  burst,
}
const rule = { name: 'api', by: ['user'], limit, onStoreFailure: /** @type {const} */ ('closed') }

/** @typedef {import('sluice').Decision} Decision */
/** @typedef {Pick<Decision, 'allowed' | 'degraded'>} Answer */
/** @typedef {{ user: string }} User */
/** @typedef {{ now: (user: User) => Answer | undefined, later: (user: User) => Promise<Answer>, close: () => Promise<void> }} Contender */

/** @returns {Contender} */
function leased() {
  const client = new Redis(ioredisOptions({ host: '127.0.0.1', port }))
  client.on('error', () => {})
  const store = withCoordination(redisStore(client, { timeout: 1000, onWarning: () => {} }))
  const rules = [{ ...rule, coordination: /** @type {const} */ ('leased') }]
  const policy = { name: 'bench', rules }
  const limiter = createLimiter({ policy, store, resilience: { onEvent() {} } })
  return {
    now: (user) => limiter.checkNow(user),
    later: (user) => limiter.check(user),
    async close() {
      await limiter.close()
      await store.close()
      client.disconnect()
    },
  }
}

/** @returns {Contender} */
function inMemory() {
  const policy = { name: 'bench', rules: [rule] }
  const limiter = createLimiter({ policy, store: memoryStore() })
  const now = (/** @type {User} */ user) => limiter.check(user)
  return { now, later: async (user) => now(user), close: async () => {} }
}

/** The least that any limiter does: finds the number of a key and changes it. @returns {Contender} */
function inMap() {
  /** @type {Map<string, { used: number }>} */
  const counts = new Map()
  const now = (/** @type {User} */ { user }) => {
    let count = counts.get(user)
    if (count === undefined) counts.set(user, (count = { used: 0 }))
    count.used++
    return { allowed: count.used > 0, degraded: false }
  }
  return { now, later: async (user) => now(user), close: async () => {} }
}

const contender = { leased, memory: inMemory, map: inMap }[load.kind]()
const next = sampler(zipfShares(keys, 1.1), seededRandom(seed + 1))
const drawn = Uint32Array.from({ length: DRAWN }, () => next())
const users = Array.from({ length: keys }, (_, i) => ({ user: `user ${i}` }))
const admitted = new Float64Array(keys)
/** @type {number[]} */
const times = []
const turn = () => new Promise((resolve) => void setImmediate(resolve))
let [decisions, refused, undecided, place, underWay] = [0, 0, 0, 0, 0]
let wake = () => {}

/** Until an answer comes: a loop that asks again and again would take the cores from the server. @returns {Promise<void>} */
const answered = () => new Promise((resolve) => void (wake = resolve))

/** @param {number} key */
const userOf = (key) => /** @type {{ user: string }} */ (users[key])

/** @param {number} key @param {Answer} decision */
function note(key, decision) {
  decisions++
  if (decision.allowed) admitted[key] = (admitted[key] ?? 0) + 1
  else if (decision.degraded) undecided++
  else refused++
}

/** @param {number} key */
function later(key) {
  underWay++
  const began = performance.now()
  void contender.later(userOf(key)).then((decision) => {
    underWay--
    wake()
    note(key, decision)
    if (decisions % SAMPLE === 0) times.push(performance.now() - began)
  })
}

function decide() {
  const key = /** @type {number} */ (drawn[place++ & (DRAWN - 1)])
  if (!load.atOnce) {
    later(key)
    return
  }
  const isSampled = place % SAMPLE === 0
  const began = isSampled ? performance.now() : 0
  const decision = contender.now(userOf(key))
  if (decision === undefined) {
    later(key)
    return
  }
  note(key, decision)
  if (isSampled) times.push(performance.now() - began)
}

while ((await contender.later({ user: 'warm' })).degraded) await turn()
// All of them begin at the same time.
while (Date.now() % 4000 > 50) await turn()
const began = performance.timeOrigin + performance.now()

/** Decides for so many milliseconds. @param {number} millis */
async function decideFor(millis) {
  const end = performance.now() + millis
  while (performance.now() < end) {
    for (let i = 0; i < TOGETHER && underWay < IN_FLIGHT; i++) decide()
    if (underWay < IN_FLIGHT) await turn()
    else await answered()
  }
}

await decideFor(load.kind === 'leased' && keys > 1 ? WARM_UP : SHORT_WARM_UP)
times.length = 0
const [before, refusedBefore, undecidedBefore, cpu] = [decisions, refused, undecided, cpuSeconds()]
await decideFor(length)
const [after, spent] = [decisions, cpuSeconds() - cpu]
while (underWay > 0) await turn()
const ended = performance.timeOrigin + performance.now()
await contender.close()
times.sort((a, b) => a - b)
reportToParent({
  all: decisions,
  decisions: after - before,
  refused: refused - refusedBefore,
  undecided: undecided - undecidedBefore,
  admitted: [...admitted.entries()]
    .filter(([, units]) => units > 0)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 1000),
  began,
  ended,
  cpu: spent,
  p99: times[Math.floor(times.length * 0.99)] ?? 0,
})
