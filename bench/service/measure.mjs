// One cell: a load on one server for some seconds, by wrk.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** @typedef {import('./loads.mjs').Load} Load */
/** @typedef {{ perSecond: number, perCpuSecond: number, median: number, slowest: number }} Cell decisions, and milliseconds of requests */

const execute = promisify(execFile)
const script = fileURLToPath(new URL('bodies.lua', import.meta.url))
/** Different bodies in a load; with 64 checks each, 16,384 keys. */
const BODIES = 256
const CONNECTIONS = 64

/**
 * @param {import('./servers.mjs').Server} server
 * @param {Load} load
 * @param {number} seconds
 * @returns {Promise<Cell>}
 */
export async function measure(server, { decisions, body }, seconds) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    const file = join(folder, 'bodies')
    const lines = Array.from({ length: BODIES }, (_, i) => JSON.stringify(body(i)))
    writeFileSync(file, `${lines.join('\n')}\n`)
    const args = [
      '-t1',
      '--timeout',
      '10s',
      `-c${CONNECTIONS}`,
      '--latency',
      '-s',
      script,
      `${server.url}/`,
      '--',
      file,
    ]
    await execute('wrk', ['-d2s', ...args])
    const before = server.cpuSeconds()
    const { stdout } = await execute('wrk', [`-d${seconds}s`, ...args])
    const cpu = server.cpuSeconds() - before
    const [, requests = '0', took = '0s'] = /(\d+) requests in ([\d.]+\w+),/.exec(stdout) ?? []
    if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`not all were answered:\n${stdout}`)
    const made = Number(requests) * decisions
    return {
      perSecond: made / (millis(took) / 1000),
      perCpuSecond: made / cpu,
      median: millis(/50%\s+(\S+)/.exec(stdout)?.[1] ?? ''),
      slowest: millis(/99%\s+(\S+)/.exec(stdout)?.[1] ?? ''),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const UNITS = /** @type {Record<string, number>} */ ({ us: 0.001, ms: 1, s: 1000, m: 60_000 })

/** wrk's `1.23ms` as a number. @param {string} text */
function millis(text) {
  const [, value, unit = ''] = /^([\d.]+)(us|ms|s|m)$/.exec(text) ?? []
  return Number(value) * (UNITS[unit] ?? NaN)
}
