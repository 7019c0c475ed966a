// The service's own metrics engine against prom-client: nanoseconds of CPU per addition, milliseconds per exposition.
// node bench/observe/engines.mjs [rounds]
import { Counter, Histogram, Registry } from 'prom-client'
import { cpuSeconds } from '../lib/cpu.mjs'
import { lowerQuartile } from '../lib/statistics.mjs'
import { markdownTable } from '../lib/table.mjs'

const { MetricRegistry } = await import(
  new URL('../../packages/server/dist/metrics/registry.js', import.meta.url).href
)
const RULES = 1000
const ADDITIONS = 300_000
const EDGES = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000]
const rounds = Number(process.argv[2] ?? 9)
const names = Array.from({ length: RULES }, (_, i) => `rule-${i}`)

function own() {
  const registry = new MetricRegistry()
  const counters = registry.counter('a_total', 'a', ['policy', 'rule', 'result'])
  const histograms = registry.histogram('b_seconds', 'b', ['policy', 'rule'])
  const held = names.map((rule) => counters.with('api', rule, 'allowed'))
  const measured = names.map((rule) => histograms.with('api', rule))
  return {
    add: (/** @type {number} */ i) => held[i].add(),
    observe: (/** @type {number} */ i) => measured[i].observe(i % 7),
    text: async () => registry.text(),
  }
}

function promClient() {
  const registry = new Registry()
  const registers = [registry]
  const counters = new Counter({
    name: 'a_total',
    help: 'a',
    labelNames: ['policy', 'rule', 'result'],
    registers,
  })
  const buckets = EDGES.map((edge) => edge / 1000)
  const histograms = new Histogram({
    name: 'b_seconds',
    help: 'b',
    labelNames: ['policy', 'rule'],
    buckets,
    registers,
  })
  // Its quickest way: children that are held.
  const held = names.map((rule) => counters.labels('api', rule, 'allowed'))
  const measured = names.map((rule) => histograms.labels('api', rule))
  return {
    add: (/** @type {number} */ i) => held[i]?.inc(),
    observe: (/** @type {number} */ i) => measured[i]?.observe((i % 7) / 1000),
    text: () => registry.metrics(),
  }
}

const engines = { own: own(), 'prom-client': promClient() }
/** @type {Record<string, { add: number[], observe: number[], text: number[] }>} */
const results = { own: empty(), 'prom-client': empty() }
for (let round = 0; round < rounds; round++) {
  for (const [name, engine] of Object.entries(engines)) {
    const result = results[name] ?? empty()
    for (const operation of /** @type {const} */ (['add', 'observe'])) {
      const run = engine[operation]
      const before = cpuSeconds()
      for (let i = 0; i < ADDITIONS; i++) run(i % RULES)
      result[operation].push(((cpuSeconds() - before) / ADDITIONS) * 1e9)
    }
    const before = cpuSeconds()
    await engine.text()
    result.text.push((cpuSeconds() - before) * 1e3)
  }
}
const rows = Object.entries(results).map(([name, { add, observe, text }]) => [
  name,
  lowerQuartile(add).toFixed(1),
  lowerQuartile(observe).toFixed(1),
  lowerQuartile(text).toFixed(1),
])
process.stdout.write(
  `${markdownTable(['engine', 'ns per counter', 'ns per histogram', `ms for the text of ${RULES} rules`], rows)}\n`,
)

function empty() {
  return { add: [], observe: [], text: [] }
}
