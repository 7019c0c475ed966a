// The service's benchmark: `node bench/service/run.mjs [--quick] [--only name] [--json file]`; needs wrk, and Linux for CPU time.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { pinToSecondCore } from '../lib/cores.mjs'
import { machine } from '../lib/machine.mjs'
import { interleaved } from '../lib/rounds.mjs'
import { loads } from './loads.mjs'
import { measure } from './measure.mjs'
import { report } from './report.mjs'
import { contenders, startServer } from './servers.mjs'

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean' }, only: { type: 'string' }, json: { type: 'string' } },
})
const { rounds, seconds } = options.quick ? { rounds: 4, seconds: 1 } : { rounds: 5, seconds: 5 }
const file =
  options.json ??
  fileURLToPath(new URL(`../results/service${options.quick ? '-quick' : ''}.json`, import.meta.url))

const core = pinToSecondCore()
const only = options.only ?? ''
const isName = loads.some(({ name }) => name === only)
const chosen = loads.filter(({ name }) => (isName ? name === only : name.includes(only)))
/** @type {(import('./report.mjs').Result & { server: import('./servers.mjs').Server, asked: import('./loads.mjs').Load })[]} */
const results = []
for (const [contender, args] of Object.entries(contenders)) {
  const server = await startServer(args, core)
  for (const asked of chosen)
    results.push({ contender, load: asked.name, cells: [], server, asked })
}
// The contenders of one load stand beside each other.
const order = results.toSorted((a, b) => chosen.indexOf(a.asked) - chosen.indexOf(b.asked))
for (const { round, cell } of interleaved(order, rounds)) {
  const measured = await measure(cell.server, cell.asked, seconds)
  cell.cells.push(measured)
  process.stderr.write(`${round + 1} ${cell.load}: ${cell.contender}\n`)
}
for (const { server } of results) server.stop()

const measured = {
  machine: machine(),
  rounds,
  results: order.map(({ contender, load, cells }) => ({ contender, load, cells })),
}
mkdirSync(dirname(file), { recursive: true })
writeFileSync(file, `${JSON.stringify(measured, null, 2)}\n`)
console.log(report(measured))
