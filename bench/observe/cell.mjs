// One contender in a process of its own: the policy limiter of the service with some observers around it. Runs slices on demand.
import { createLimiter, memoryStore, parsePolicy } from 'sluice'
import { cpuSeconds } from '../lib/cpu.mjs'

/** The rooms of the service that observe, which are not public. @param {string} path */
const room = (path) =>
  import(new URL(`../../packages/server/dist/${path}.js`, import.meta.url).href)
const { decideOptions } = await room('limiters/decide-options')
const { DecisionMetrics } = await room('metrics/decision-metrics')
const { RecentTraffic } = await room('metrics/recent-traffic')
const { MetricRegistry } = await room('metrics/registry')
const { Observer } = await room('observe/observer')

/** Keys in turn: enough that sketches change places. */
const KEYS = 20_000
const SLICE = 500_000
/** Requests after which the event loop runs, as it does in a service. */
const TURN = 2000

const [contender = '', share = 'allowed'] = process.argv.slice(2)
// A slow rate, so that counts live on from one request to the next.
const limit = share === 'refused' ? '1/h' : { quota: 1000, window: '1h', burst: 1_000_000_000 }
const policy = parsePolicy({ name: 'api', rules: [{ name: 'per-user', by: ['user'], limit }] })
const store = memoryStore()

/** What stands around decisions. */
function around() {
  if (contender === 'none') return {}
  if (contender === 'empty') return { onDecision: () => {}, isTimed: () => false }
  const metrics = new MetricRegistry()
  const observer = new Observer()
  observer.start()
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

const limiter = createLimiter({ policy, store, ...around() })
// Flat strings, as parsers make them; joined ones are slower to read.
const users = Array.from({ length: KEYS }, (_, i) =>
  Buffer.from(`user-${String(i * 7919).padStart(9, '0')}`).toString(),
)
let at = 0
let allowed = 0

async function slice(count = SLICE) {
  const before = cpuSeconds()
  for (let i = 0; i < count; i++) {
    at = at + 1 === KEYS ? 0 : at + 1
    if (limiter.check({ user: users[at], route: '/a', method: 'GET' }).allowed) allowed += 1
    if (i % TURN === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return ((cpuSeconds() - before) / count) * 1e9
}

await slice()
await slice()
process.on('message', () => void slice().then((nanos) => process.send?.({ nanos, allowed })))
process.send?.('ready')
