// Measures the rate limit service against bare echoes with the same messages: h2load, one core each, interleaved.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { pinToSecondCore } from '../../lib/cores.mjs'
import { machine } from '../../lib/machine.mjs'
import { interleaved } from '../../lib/rounds.mjs'
import { median, pairedRatio } from '../../lib/statistics.mjs'
import { figure, markdownTable } from '../../lib/table.mjs'
import { PATH, requestFrame } from './messages.mjs'

const CONTENDERS = ['grpc-js echo', 'node:http2 echo', 'sluice']
const FLOOR = 'grpc-js echo'
/** Ticks of /proc in a second. */
const TICKS = 100

/** @typedef {{ contender: string, descriptors: number, perSecond: number, cpu: number, p50: string, p99: string }} Measured */

/**
 * Measures every contender with requests of 1 and of 64 descriptors.
 * @param {{ rounds?: number, seconds?: number }} [options]
 * @returns {Promise<Measured[]>}
 */
export async function measureGrpc({ rounds = 5, seconds = 3 } = {}) {
  const core = pinToSecondCore()
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const servers = new Map()
  /** @type {Measured[]} */
  const results = []
  try {
    for (const name of CONTENDERS) servers.set(name, await startServer(name, core))
    const cells = [1, 64].flatMap((descriptors) => {
      const body = join(folder, `${descriptors}.bin`)
      writeFileSync(body, requestFrame(descriptors))
      return CONTENDERS.map((contender) => ({ contender, descriptors, body }))
    })
    for (const cell of cells) await load(servers.get(cell.contender).port, cell.body, 1)
    for (const { cell } of interleaved(cells, rounds)) {
      const { contender, descriptors, body } = cell
      const { port, pid } = servers.get(contender)
      const before = cpuSeconds(pid)
      const { requests, perSecond, p50, p99 } = await load(port, body, seconds)
      const cpu = ((cpuSeconds(pid) - before) / requests) * 1e6
      results.push({ contender, descriptors, perSecond, cpu, p50, p99 })
    }
  } finally {
    for (const { stop } of servers.values()) stop()
    rmSync(folder, { recursive: true })
  }
  return results
}

/** @param {string} name @param {number | undefined} core */
async function startServer(name, core) {
  const words = [process.execPath, fileURLToPath(new URL('server.mjs', import.meta.url)), name]
  if (core !== undefined) words.unshift('taskset', '-c', `${core}`)
  const [command = '', ...args] = words
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout, 'data')
  return { port: Number(String(line)), pid: child.pid ?? 0, stop: () => child.stdin.end() }
}

/** 4 connections with 32 calls each. @param {number} port @param {string} body @param {number} seconds */
async function load(port, body, seconds) {
  const headers = ['content-type: application/grpc', 'te: trailers'].flatMap((text) => ['-H', text])
  const url = `http://127.0.0.1:${port}${PATH}`
  const args = ['-D', `${seconds}`, '-c', '4', '-m', '32', '-d', body, ...headers, url]
  const child = spawn('h2load', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
  await once(child, 'close')
  const done = /requests: (\d+) total.* (\d+) succeeded, (\d+) failed/.exec(output)
  if (!done || done[3] !== '0') throw new Error(`h2load: ${output}`)
  const requests = Number(done[2])
  const [, p50 = '-'] = /time for request:\s+\S+\s+\S+\s+(\S+)/.exec(output) ?? []
  const [, p99 = '-'] = /time for request:\s+\S+\s+(\S+)/.exec(output) ?? []
  return { requests, perSecond: requests / seconds, p50, p99 }
}

/** CPU time of a process, all threads. @param {number} pid */
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS
}

/** The results as a table, with ratios to the echo of grpc-js. @param {Measured[]} results */
export function grpcTable(results) {
  const rows = [1, 64].flatMap((descriptors) =>
    CONTENDERS.map((contender) => {
      const of = (/** @type {string} */ name) =>
        results.filter((one) => one.contender === name && one.descriptors === descriptors)
      const speeds = of(contender).map(({ perSecond }) => perSecond)
      const cpus = of(contender).map(({ cpu }) => cpu)
      const floor = of(FLOOR)
      return [
        `${descriptors}`,
        contender,
        figure(median(speeds)),
        figure(median(speeds) * descriptors),
        figure(median(cpus)),
        figure(
          pairedRatio(
            speeds,
            floor.map(({ perSecond }) => perSecond),
          ),
        ),
        figure(
          pairedRatio(
            cpus,
            floor.map(({ cpu }) => cpu),
          ),
        ),
      ]
    }),
  )
  const head = [
    'descriptors',
    'contender',
    'calls/s',
    'decisions/s',
    'CPU µs/call',
    '× speed',
    '× CPU',
  ]
  return markdownTable(head, rows)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const quick = process.argv.includes('--quick')
  const results = await measureGrpc(quick ? { rounds: 2, seconds: 1 } : {})
  console.log(JSON.stringify(machine()))
  console.log(grpcTable(results))
}
