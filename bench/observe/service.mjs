// What all observers cost a check of the service: CPU time per request with and without them, in turns, by wrk.
// node bench/observe/service.mjs [rounds] [seconds]
import { fileURLToPath } from 'node:url'
import { pinToSecondCore } from '../lib/cores.mjs'
import { interleaved } from '../lib/rounds.mjs'
import { pairedRatio } from '../lib/statistics.mjs'
import { markdownTable, withSpread } from '../lib/table.mjs'
import { loads } from '../service/loads.mjs'
import { measure } from '../service/measure.mjs'
import { startServer } from '../service/servers.mjs'

const rounds = Number(process.argv[2] ?? 7)
const seconds = Number(process.argv[3] ?? 2)
const path = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url))
const serve = [path('../../packages/cli/dist/main.js'), 'serve', path('sluice.yaml')]
const contenders = { none: ['--import', path('unobserved.mjs'), ...serve], all: serve }
const LOADS = new Set(['one check', 'one check, three rules', '64 checks', '64 checks, refused'])
// With the admin API the last requests are kept too.
process.env['SLUICE_ADMIN_TOKEN'] = 'a-token-of-the-benchmark-that-is-long-enough'
process.env['SLUICE_ADMIN_PORT'] = '0'

const core = pinToSecondCore()
const rows = []
for (const load of loads.filter(({ name }) => LOADS.has(name))) {
  /** @type {Record<string, number[]>} */
  const micros = { none: [], all: [] }
  const servers = {
    none: await startServer(contenders.none, core),
    all: await startServer(contenders.all, core),
  }
  for (const { cell } of interleaved(Object.entries(servers), rounds)) {
    const [name, server] = cell
    const { perCpuSecond } = await measure(server, load, seconds)
    micros[name]?.push((1e6 * load.decisions) / perCpuSecond)
  }
  for (const server of Object.values(servers)) server.stop()
  const { none = [], all = [] } = micros
  const cost = `${((pairedRatio(all, none) - 1) * 100).toFixed(1)} %`
  rows.push([load.name, withSpread(none), withSpread(all), cost])
}
process.stdout.write(
  `${markdownTable(['load', 'CPU µs a request without', 'with all observers', 'above (median of rounds)'], rows)}\n`,
)
