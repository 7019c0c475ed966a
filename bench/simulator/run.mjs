// Fleets of 1 to 1,000 pods in every mode, on the simulator: `npm run bench:simulator -- [--pods 1,10,100,1000]`.
import { parseArgs } from 'node:util'
import { MODE_NAMES, simulate } from 'sluice/simulator'
import { markdownTable } from '../lib/table.mjs'

const { values: options } = parseArgs({
  options: { pods: { type: 'string', default: '1,10,100,1000' } },
})

/** Requests per second and pod, the limit as a share of what the hottest key asks for, and the shortest run in ms. */
const LOADS = [
  {
    name: 'Ten keys, the hottest 1.4 times over its limit',
    perPod: 100,
    keys: 10,
    share: 0.25,
    least: 2000,
  },
  { name: 'One hot key with room', perPod: 200, keys: 1, share: 1.5, least: 500 },
]
const percent = (/** @type {number} */ share) => `${(share * 100).toFixed(1)}%`
const whole = (/** @type {number} */ value) => Math.round(value).toLocaleString('en')

for (const { name, perPod, keys, share, least } of LOADS) {
  /** @type {string[][]} */
  const rows = []
  for (const pods of options.pods.split(',').map(Number)) {
    const rate = perPod * pods
    for (const mode of MODE_NAMES) {
      const result = await simulate({
        mode,
        pods,
        lasts: Math.max(least, Math.min(5000, 30_000_000 / rate)),
        limit: { quota: Math.ceil(rate * share), window: '1s' },
        store: { latency: [0.5, 2] },
        traffic: [{ shape: 'poisson', rate: `${rate}/s`, keys, zipf: 1 }],
      })
      process.stderr.write(`${name}: ${pods} pods, ${mode}\n`)
      const { over, under, excess, storeCallsPerDecision: calls, latency } = result
      rows.push([
        whole(pods),
        mode,
        over > 0.0005 ? `+${percent(over)}` : under > 0.0005 ? `−${percent(under)}` : '=',
        whole(excess),
        calls.toFixed(calls < 0.1 ? 4 : 2),
        whole(calls * rate),
        `${latency.p50.toFixed(1)} / ${latency.p99.toFixed(1)} ms`,
      ])
    }
  }
  const head = [
    'pods',
    'mode',
    'against ideal',
    'over the limit by',
    'calls per decision',
    'calls/s',
    'p50 / p99',
  ]
  console.log(`\n${name} (${perPod} requests/s for each pod)\n\n${markdownTable(head, rows)}`)
}
