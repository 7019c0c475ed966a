// The policy limiter of the service with some observers around it, or several such limiters in turns. Runs slices on demand.
import { createLimiter, memoryStore, parsePolicy } from 'sluice'
import { cpuSeconds } from '../lib/cpu.mjs'

/** The rooms of the service that observe, which are not public. @param {string} path */
const room = (path) =>
  import(new URL(`../../packages/server/dist/${path}.js`, import.meta.url).href)
const { decideOptions } = await room('limiters/decide-options')
const { DecisionMetrics } = await room('metrics/decision-metrics')
const { RecentTraffic } = await room('observe/recent-traffic')
const { MetricRegistry } = await room('metrics/registry')
const { Observer } = await room('observe/observer')

/** Keys in turn: enough that sketches change places. */
const KEYS = 20_000
const SLICE = 50_000
const WARM_UP = 1_000_000
/** Decisions between two ticks of the observers, as in a service that makes a million decisions a second. */
const TICK = 250_000
/** Requests after which the event loop runs, as it does in a service. */
const TURN = 2000

const [share = 'allowed', ...contenders] = process.argv.slice(2)
// A slow rate, so that counts live on from one request to the next.
const limit = share === 'refused' ? '1/h' : { quota: 1000, window: '1h', burst: 1_000_000_000 }
const policy = parsePolicy({ name: 'api', rules: [{ name: 'per-user', by: ['user'], limit }] })

/** @type {Map<unknown, () => void>} Called by limiter after each turn of the event loop: time goes by checks, whatever else the machine does. */
const turns = new Map()

/** What stands around decisions. @param {string} contender @param {import('sluice').MemoryStore} store */
function around(contender, store) {
  if (contender === 'none') return {}
  if (contender === 'empty') return { onDecision: () => {}, isTimed: () => false }
  const metrics = new MetricRegistry()
  const observer = new Observer()
  let untilTick = TICK / TURN
  turns.set(store, () => {
    if (--untilTick > 0) return
    untilTick = TICK / TURN
    observer.tick()
  })
  const { onDecision, isTimed, identify } = decideOptions(policy, {
    store,
    observer,
    decisions: new DecisionMetrics(
      metrics,
      (/** @type {string} */ name, /** @type {string} */ rule) => observer.membersOf(name, rule),
    ),
    held: /** @type {any} */ (undefined),
    recent: new RecentTraffic(),
  })
  return {
    ...(onDecision && { onDecision }),
    ...(isTimed && { isTimed }),
    ...(identify && { identify }),
  }
}

/** @param {string} contender */
function limiterOf(contender) {
  const store = memoryStore()
  return {
    limiter: createLimiter({ policy, store, ...around(contender, store) }),
    turn: turns.get(store),
  }
}

// Flat strings, as parsers make them; joined ones are slower to read.
const users = Array.from({ length: KEYS }, (_, i) =>
  Buffer.from(`user-${String(i * 7919).padStart(9, '0')}`).toString(),
)
let at = 0
let allowed = 0
/** @type {unknown} Who asks reads the decision; without a reader V8 would not make one where nothing observes it. */
let last

/** CPU nanoseconds per check. @param {ReturnType<typeof limiterOf>} observed @param {number} count */
async function slice({ limiter, turn }, count) {
  const before = cpuSeconds()
  for (let i = 0; i < count; i++) {
    at = at + 1 === KEYS ? 0 : at + 1
    const decision = limiter.check({ user: users[at], route: '/a', method: 'GET' })
    if (decision.allowed) allowed += 1
    last = decision
    if (i % TURN !== 0) continue
    await new Promise((resolve) => setImmediate(resolve))
    turn?.()
  }
  return ((cpuSeconds() - before) / count) * 1e9
}

const limiters = new Map(contenders.map((contender) => [contender, limiterOf(contender)]))
for (let done = 0; done < WARM_UP; done += SLICE)
  for (const limiter of limiters.values()) await slice(limiter, SLICE)
process.on('message', (contender) => {
  const limiter = limiters.get(String(contender))
  if (limiter !== undefined)
    void slice(limiter, SLICE).then((nanos) => process.send?.({ nanos, allowed, last }))
})
process.send?.('ready')
