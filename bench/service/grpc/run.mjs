// Measures the rate limit service against bare echoes with the same messages, one core each, interleaved.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { measureInChild } from '../../lib/child.mjs'
import { pinToSecondCore } from '../../lib/cores.mjs'
import { machine } from '../../lib/machine.mjs'
import { interleaved } from '../../lib/rounds.mjs'
import { median, ratios } from '../../lib/statistics.mjs'
import { figure, markdownTable, withSpread } from '../../lib/table.mjs'
import { requestFrame } from './messages.mjs'

const PEER = 'grpc-js echo'
const ALONE = 'node:http2 alone'
const FLOOR = 'node:http2 floor'
const CONTENDERS = [PEER, ALONE, FLOOR, 'sluice']
/** Ticks of /proc in a second. */
const TICKS = 100

/** @typedef {{ contender: string, descriptors: number, perSecond: number, cpu: number, p50: number, p99: number, cold?: number }} Measured waits in milliseconds; `cold`: `cpu` of the first second of the load */

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
    const colds = new Map()
    for (const cell of cells)
      colds.set(cell, (await load(servers.get(cell.contender), cell.body, 1)).cpu)
    for (const { cell } of interleaved(cells, rounds)) {
      const { contender, descriptors, body } = cell
      const { perSecond, cpu, p50, p99 } = await load(servers.get(contender), body, seconds)
      results.push({ contender, descriptors, perSecond, cpu, p50, p99, cold: colds.get(cell) })
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

/** 4 connections with 32 calls each. @param {{ port: number, pid: number }} server @param {string} body @param {number} seconds */
async function load({ port, pid }, body, seconds) {
  const module = new URL('./load.mjs', import.meta.url)
  const before = cpuSeconds(pid)
  /** @type {import('./load.mjs').Driven} */
  const driven = await measureInChild(module, { port, body, seconds }, { flags: [] })
  const cpu = ((cpuSeconds(pid) - before) / driven.requests) * 1e6
  return { ...driven, cpu, perSecond: driven.requests / driven.seconds }
}

/** CPU time of a process, all threads. @param {number} pid */
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS
}

/** The results as a table, with ratios paired by round. @param {Measured[]} results */
export function grpcTable(results) {
  const rows = [1, 64].flatMap((descriptors) => {
    const of = (/** @type {string} */ name, /** @type {'perSecond' | 'cpu' | 'cold'} */ what) =>
      results
        .filter((one) => one.contender === name && one.descriptors === descriptors)
        .map((one) => one[what] ?? NaN)
    return CONTENDERS.map((contender) => {
      const cpus = of(contender, 'cpu')
      const perSecond = of(contender, 'perSecond')
      return [
        `${descriptors}`,
        contender,
        figure(median(perSecond)),
        figure(median(perSecond) * descriptors),
        withSpread(cpus),
        figure(of(contender, 'cold')[0]),
        withSpread(ratios(cpus, of(ALONE, 'cpu'))),
        withSpread(ratios(cpus, of(FLOOR, 'cpu'))),
        withSpread(ratios(cpus, of(PEER, 'cpu'))),
      ]
    })
  })
  const head = [
    'descriptors',
    'contender',
    'calls/s',
    'decisions/s',
    'CPU µs/call: median (least–most)',
    'first second',
    '× http2 alone',
    '× floor',
    '× grpc-js',
  ]
  return markdownTable(head, rows)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const quick = process.argv.includes('--quick')
  const results = await measureGrpc(quick ? { rounds: 4, seconds: 1 } : {})
  console.log(JSON.stringify(machine()))
  console.log(grpcTable(results))
}
