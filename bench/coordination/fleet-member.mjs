// One process of the fleet: decides as fast as it can for a while, and counts what it admitted of each key.
import { Redis } from 'ioredis'
import { createLimiter } from 'sluice'
import { withCoordination } from 'sluice/coordination'
import { ioredisOptions, redisStore } from 'sluice/redis'
import { inputFromParent, reportToParent } from '../lib/child.mjs'
import { cpuSeconds } from '../lib/cpu.mjs'
import { sampler, seededRandom, zipfShares } from '../lib/random.mjs'

const TOGETHER = 256
const IN_FLIGHT = 512
const SAMPLE = 61
/** Milliseconds before the figures count: until the first long leases have ended, and are taken anew as they are from then on. What is admitted in them counts for the limit. */
const WARM_UP = 24_000
/** Keys drawn before the run, which drawing would slow down; then they repeat. So many that a key of the tail does not come back sooner than it should. */
const DRAWN = 2 ** 21

/** @type {{ load: import('./fleet.mjs').Load, seed: number, port: number, length: number }} */
const { load, seed, port, length } = inputFromParent()
const client = new Redis(ioredisOptions({ host: '127.0.0.1', port }))
client.on('error', () => {})
const store = withCoordination(redisStore(client, { timeout: 1000, onWarning: () => {} }))
const { quota, burst, keys } = load
const limit = {
  algorithm: /** @type {const} */ ('token-bucket'),
  quota,
  window: /** @type {const} */ ('1s'),
  burst,
}
const rule = {
  name: 'api',
  by: ['user'],
  limit,
  onStoreFailure: /** @type {const} */ ('closed'),
  coordination: /** @type {const} */ ('leased'),
}
const limiter = createLimiter({
  policy: { name: 'bench', rules: [rule] },
  store,
  resilience: { onEvent() {} },
})
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

/** @param {number} key @param {import('sluice').Decision} decision */
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
  void limiter.check(userOf(key)).then((decision) => {
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
  const decision = limiter.checkNow(userOf(key))
  if (decision === undefined) {
    later(key)
    return
  }
  note(key, decision)
  if (isSampled) times.push(performance.now() - began)
}

while ((await limiter.check({ user: 'warm' })).degraded) await turn()
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

await decideFor(WARM_UP)
times.length = 0
const [before, refusedBefore, undecidedBefore, cpu] = [decisions, refused, undecided, cpuSeconds()]
await decideFor(length)
const [after, spent] = [decisions, cpuSeconds() - cpu]
while (underWay > 0) await turn()
const ended = performance.timeOrigin + performance.now()
await limiter.close()
await store.close()
client.disconnect()
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
