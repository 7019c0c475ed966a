// What the reverse proxy adds to a bare one: `node bench/service/proxy/run.mjs [--quick]`; needs wrk, and Linux for CPU time.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { pinToSecondCore } from '../../lib/cores.mjs'
import { interleaved } from '../../lib/rounds.mjs'
import { median, pairedRatio } from '../../lib/statistics.mjs'
import { figure, markdownTable } from '../../lib/table.mjs'
import { startServer } from '../servers.mjs'

const { values: options } = parseArgs({ options: { quick: { type: 'boolean' } } })
const { rounds, seconds } = options.quick ? { rounds: 3, seconds: 2 } : { rounds: 5, seconds: 5 }
/** Bytes of the answers. */
const SIZES = [100, 10_000]
const FLOOR = 'bare node:http proxy'

const path = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url))
const execute = promisify(execFile)

const core = pinToSecondCore()
// The upstream shares the core of the load; only what is measured has one of its own.
const upstream = await startServer([path('upstream.mjs')], undefined, 'upstream')
const main = path('../../../packages/cli/dist/main.js')
process.env['SLUICE_PROXY_UPSTREAM'] = upstream.url
process.env['SLUICE_PROXY_PORT'] = '0'
const servers = {
  [FLOOR]: await startServer([path('bare.mjs'), upstream.url], core, 'proxy'),
  'sluice serve --upstream': await startServer([main, 'serve', path('sluice.yaml')], core, 'proxy'),
}

const cells = SIZES.flatMap((size) =>
  Object.entries(servers).map(([contender, server]) => ({
    contender,
    server,
    size,
    /** @type {number[]} */ perSecond: [],
    /** @type {number[]} */ micros: [],
  })),
)
// V8 compiles more of the proxy that does more; that is not what is measured.
for (const { server, size } of cells) await load(server.url, size, options.quick ? 4 : 8)
for (const { cell } of interleaved(cells, rounds)) {
  const before = cell.server.cpuSeconds()
  const { requests, took } = await load(cell.server.url, cell.size, seconds)
  cell.perSecond.push(requests / took)
  cell.micros.push(((cell.server.cpuSeconds() - before) / requests) * 1e6)
}
upstream.stop()
for (const server of Object.values(servers)) server.stop()

console.log(
  markdownTable(
    ['proxy', 'bytes', 'requests/s', 'CPU per request', 'CPU against the floor'],
    cells.map(({ contender, size, perSecond, micros }) => {
      const floor = cells.find((cell) => cell.contender === FLOOR && cell.size === size)
      return [
        contender,
        String(size),
        figure(median(perSecond)),
        `${figure(median(micros))} µs`,
        pairedRatio(micros, floor?.micros ?? []).toFixed(2),
      ]
    }),
  ),
)

/** @param {string} url @param {number} size @param {number} seconds */
async function load(url, size, seconds) {
  const words = ['-t1', '-c32', `-d${seconds}s`, '--timeout', '10s', `${url}/${size}`]
  const { stdout } = await execute('wrk', words)
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`not all were answered:\n${stdout}`)
  const [, requests = '0', took = '0'] = /(\d+) requests in ([\d.]+)s,/.exec(stdout) ?? []
  return { requests: Number(requests), took: Number(took) }
}
