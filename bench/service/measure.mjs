// One cell: a load on one server for some seconds, by wrk.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** @typedef {import('./loads.mjs').Load} Load */
/** @typedef {{ perSecond: number, perCpuSecond: number, median: number, slowest: number, cold?: { perSecond: number, perCpuSecond: number } | undefined }} Cell decisions, and milliseconds of requests; `cold`: the first second of the load, in its first round */

const execute = promisify(execFile)
const script = fileURLToPath(new URL('bodies.lua', import.meta.url))
/** Different bodies in a load; with 64 checks each, 16,384 keys. */
const BODIES = 256
const CONNECTIONS = 64
/** Decisions before the first measurement of a cell, for V8 to have compiled what is hot. */
const WARM = 30_000
/** A busy machine may never get there. */
const LONGEST_WARM_UP = 20

/** The cells that are warm. @type {WeakMap<object, Set<string>>} */
const warm = new WeakMap()

/**
 * @param {import('./servers.mjs').Server} server
 * @param {Load} load
 * @param {number} seconds
 * @returns {Promise<Cell>}
 */
export async function measure(server, load, seconds) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    const file = join(folder, 'bodies')
    const lines = Array.from({ length: BODIES }, (_, i) => JSON.stringify(load.body(i)))
    writeFileSync(file, `${lines.join('\n')}\n`)
    const cold = await warmUp(server, load, file)
    const before = server.cpuSeconds()
    const { requests, took, median, slowest } = await wrk(server, seconds, file)
    const cpu = server.cpuSeconds() - before
    const made = requests * load.decisions
    return { perSecond: made / took, perCpuSecond: made / cpu, median, slowest, cold }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Returns what the first second gave; undefined when the cell is warm.
 * @param {import('./servers.mjs').Server} server
 * @param {Load} load
 * @param {string} file
 */
async function warmUp(server, { name, decisions }, file) {
  const done = warm.get(server) ?? new Set()
  if (done.has(name)) return undefined
  warm.set(server, done.add(name))
  const before = server.cpuSeconds()
  const first = await wrk(server, 1, file)
  const cpu = server.cpuSeconds() - before
  let made = first.requests * decisions
  const cold = { perSecond: made / first.took, perCpuSecond: made / cpu }
  for (let second = 1; made < WARM && second < LONGEST_WARM_UP; second++)
    made += (await wrk(server, 1, file)).requests * decisions
  return cold
}

/** @param {import('./servers.mjs').Server} server @param {number} seconds @param {string} file */
async function wrk({ url }, seconds, file) {
  const options = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--timeout', '10s', '--latency']
  const { stdout } = await execute('wrk', [...options, '-s', script, `${url}/`, '--', file])
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`not all were answered:\n${stdout}`)
  const [, requests = '0', took = '0s'] = /(\d+) requests in ([\d.]+\w+),/.exec(stdout) ?? []
  return {
    requests: Number(requests),
    took: millis(took) / 1000,
    median: millis(/50%\s+(\S+)/.exec(stdout)?.[1] ?? ''),
    slowest: millis(/99%\s+(\S+)/.exec(stdout)?.[1] ?? ''),
  }
}

const UNITS = /** @type {Record<string, number>} */ ({ us: 0.001, ms: 1, s: 1000, m: 60_000 })

/** wrk's `1.23ms` as a number. @param {string} text */
function millis(text) {
  const [, value, unit = ''] = /^([\d.]+)(us|ms|s|m)$/.exec(text) ?? []
  return Number(value) * (UNITS[unit] ?? NaN)
}
