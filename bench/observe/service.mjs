// What all observers cost a check of the service: CPU time per request with and without them, in turns, by wrk.
// node bench/observe/service.mjs [sets] [turns] [loads]
import { fileURLToPath } from 'node:url'
import { pinToSecondCore } from '../lib/cores.mjs'
import { interleaved } from '../lib/rounds.mjs'
import { lowerQuartile, median, pairedRatio } from '../lib/statistics.mjs'
import { markdownTable } from '../lib/table.mjs'
import { loads } from '../service/loads.mjs'
import { measure } from '../service/measure.mjs'
import { startServer } from '../service/servers.mjs'

/** Processes of each contender: V8 compiles the same code better in one process than in another. */
const sets = Number(process.argv[2] ?? 5)
/** Turns of a set, of one second each: neighbours on the machine strike both sides of a ratio alike. */
const turns = Number(process.argv[3] ?? 6)
const LOADS = ['one check', 'one check, three rules', '64 checks', '64 checks, refused']
const wanted = new Set(process.argv[4]?.split(';') ?? LOADS)
const path = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url))
const serve = [path('../../packages/cli/dist/main.js'), 'serve', path('sluice.yaml')]
const contenders = { none: ['--import', path('unobserved.mjs'), ...serve], all: serve }
// With the admin API the last requests are kept too.
process.env['SLUICE_ADMIN_TOKEN'] = 'a-token-of-the-benchmark-that-is-long-enough'
process.env['SLUICE_ADMIN_PORT'] = '0'

const core = pinToSecondCore()

/**
 * CPU microseconds of a request, by contender, in two processes of their own.
 * @param {import('../service/loads.mjs').Load} load
 */
async function measured(load) {
  /** @type {{ none: number[], all: number[] }} */
  const micros = { none: [], all: [] }
  const none = await startServer(contenders.none, core)
  const all = await startServer(contenders.all, core)
  const cells = [
    { server: none, list: micros.none },
    { server: all, list: micros.all },
  ]
  for (const { cell } of interleaved(cells, turns)) {
    const { perCpuSecond } = await measure(cell.server, load, 1)
    cell.list.push((1e6 * load.decisions) / perCpuSecond)
  }
  for (const { server } of cells) server.stop()
  return micros
}

const percent = (/** @type {number} */ ratio) => `${((ratio - 1) * 100).toFixed(1)} %`
const rows = []
for (const load of loads.filter(({ name }) => wanted.has(name))) {
  /** @type {{ none: number[], all: number[] }[]} */
  const results = []
  for (let set = 0; set < sets; set++) results.push(await measured(load))
  const cost = (/** @type {'none' | 'all'} */ name) =>
    median(results.map((micros) => lowerQuartile(micros[name]))).toFixed(1)
  const ratios = results.map(({ none, all }) => pairedRatio(all, none))
  const spread = `${percent(Math.min(...ratios))} … ${percent(Math.max(...ratios))}`
  rows.push([load.name, cost('none'), cost('all'), percent(median(ratios)), spread])
}
const head = ['load', 'CPU µs a request without', 'with all observers']
process.stdout.write(`${markdownTable([...head, 'above none', 'least … most of sets'], rows)}\n`)
