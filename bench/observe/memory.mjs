// The memory of all observers for ten rules after ten million different keys: bytes above idle, after garbage collection.
// node --expose-gc bench/observe/memory.mjs [keys]
import { decide, matchPolicy, parsePolicy } from 'sluice'
import { markdownTable } from '../lib/table.mjs'

/** The rooms of the service that observe, which are not public. @param {string} path */
const room = (path) =>
  import(new URL(`../../packages/server/dist/${path}.js`, import.meta.url).href)
const { decideOptions } = await room('limiters/decide-options')
const { DecisionMetrics } = await room('metrics/decision-metrics')
const { RecentTraffic } = await room('observe/recent-traffic')
const { MetricRegistry } = await room('metrics/registry')
const { Observer } = await room('observe/observer')

const KEYS = Number(process.argv[2] ?? 10_000_000)
const RULES = 10
const TURN = 1000
const policy = parsePolicy({
  name: 'api',
  rules: Array.from({ length: RULES }, (_, i) => ({
    name: `rule-${i}`,
    when: { shard: String(i) },
    by: ['user'],
    limit: '100/min',
  })),
})
const numbers = { retryAfter: 1000, resetAfter: 60_000, availableAfter: 1000, delay: 0 }
/** Every second request is refused by every rule; nothing is stored. */
let isAllowed = true
const store = {
  sync: true,
  take: (/** @type {readonly unknown[]} */ checks) => {
    isAllowed = !isAllowed
    const verdict = {
      allowed: isAllowed,
      remaining: isAllowed ? 50 : 0,
      ...numbers,
      at: observer.now,
      source: 'memory',
    }
    return checks.map(() => verdict)
  },
}
const observer = new Observer()
observer.start()
const options = decideOptions(policy, {
  store,
  observer,
  decisions: new DecisionMetrics(
    new MetricRegistry(),
    (/** @type {string} */ name, /** @type {string} */ rule) => observer.membersOf(name, rule),
  ),
  recent: new RecentTraffic(),
})
const match = matchPolicy(policy)

/** @param {number} from @param {number} to */
async function run(from, to) {
  for (let i = from; i < to; i++) {
    const shard = String(i % RULES)
    void decide(match({ user: `user-${i}`, shard, route: `/route/${i % 50}` }), options)
    if (i % TURN === 0) await new Promise((resolve) => setImmediate(resolve))
  }
}

function memory() {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const idle = memory()
const rows = []
let done = 0
for (const keys of [KEYS / 1000, KEYS / 100, KEYS / 10, KEYS]) {
  await run(done, keys)
  done = keys
  const mebibytes = (memory() - idle) / 2 ** 20
  let distinct = 0
  for (const { name } of policy.rules) distinct += observer.countsOf('api', name).distinct
  rows.push([keys.toLocaleString('en'), mebibytes.toFixed(1), distinct.toLocaleString('en')])
}
process.stdout.write(
  `${markdownTable(['different keys of ten rules', 'MiB above idle', 'estimated, of the last one to two minutes'], rows)}\n`,
)
observer.close()
