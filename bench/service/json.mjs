// The service's own writer of decisions against fast-json-stringify and JSON.stringify: nanoseconds of CPU per decision.
// node bench/service/json.mjs [rounds]
import fastJson from 'fast-json-stringify'
import { createLimiter } from 'sluice'
import { cpuSeconds } from '../lib/cpu.mjs'
import { lowerQuartile } from '../lib/statistics.mjs'
import { markdownTable } from '../lib/table.mjs'

const { decisionJson } = await import(
  new URL('../../packages/server/dist/http/decision-json.js', import.meta.url).href
)
const DECISIONS = 100_000
const rounds = Number(process.argv[2] ?? 9)
const rule = (/** @type {string} */ name) => ({ name, by: [name], limit: '1000000000/s' })
const policies = [1, 2, 4].map((count) => ({
  name: 'api',
  rules: ['user', 'tenant', 'ip', 'route'].slice(0, count).map(rule),
}))
const attributes = { user: '42', tenant: 'acme', ip: '192.0.2.1', route: '/orders' }

const integer = { type: 'integer' }
const flag = { type: 'boolean' }
const text = { type: 'string' }
const wait = { type: ['integer', 'null'] }
const limit = {
  type: 'object',
  properties: { quota: integer, window: integer, burst: integer, algorithm: text },
}
const numbers = { remaining: integer, retryAfter: wait, resetAfter: integer, delay: integer }
const outcome = {
  type: 'object',
  properties: {
    rule: text,
    limit,
    cost: integer,
    allowed: flag,
    ...numbers,
    availableAfter: integer,
    at: integer,
    source: text,
    shadow: flag,
    hidden: flag,
  },
}
const schema = {
  type: 'object',
  properties: {
    allowed: flag,
    reason: text,
    rule: text,
    limit,
    ...numbers,
    at: integer,
    degraded: flag,
    outcomes: { type: 'array', items: outcome },
    skipped: { type: 'array', items: { type: 'object', properties: { rule: text } } },
  },
}
const compiled = fastJson(/** @type {any} */ (schema))

/** Every decision is a new one: the numbers of a decision are computed when they are written. */
const writers = {
  own: decisionJson,
  'fast-json-stringify': (/** @type {any} */ decision) => compiled(decision.toJSON()),
  'JSON.stringify': JSON.stringify,
  'no writer': () => '',
}
/** @type {Map<string, number[]>} */
const results = new Map()
let written = 0
for (let round = 0; round < rounds; round++) {
  for (const policy of policies) {
    for (const [name, write] of Object.entries(writers)) {
      const limiter = createLimiter({ policy })
      const before = cpuSeconds()
      for (let i = 0; i < DECISIONS; i++) written += write(limiter.check(attributes)).length
      const nanos = ((cpuSeconds() - before) / DECISIONS) * 1e9
      const key = `${name} ${policy.rules.length}`
      results.set(key, [...(results.get(key) ?? []), nanos])
      limiter.close()
    }
  }
}
const figure = (/** @type {string} */ name, /** @type {number} */ count) =>
  lowerQuartile(results.get(`${name} ${count}`) ?? []) -
  lowerQuartile(results.get(`no writer ${count}`) ?? [])
const rows = Object.keys(writers)
  .slice(0, 3)
  .map((name) => [name, ...policies.map(({ rules }) => figure(name, rules.length).toFixed(0))])
const head = ['writer', ...policies.map(({ rules }) => `ns, ${rules.length} rules`)]
process.stdout.write(`${markdownTable(head, rows)}\n${written} characters\n`)
