// Load by wrk: requests of three classes at a rate that hardly depends on how the server keeps up.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const SCRIPT = fileURLToPath(new URL('./load.lua', import.meta.url))
/** Connections of an open load, over all classes. */
const CONNECTIONS = 400
/** @type {Readonly<Record<string, number>>} */
const SHARES = { critical: 0.1, normal: 0.6, background: 0.3 }

/**
 * In milliseconds: when an answer came, how long it took, and how much of that before the handler saw the request.
 * @typedef {{ priority: string, status: number, at: number, took: number, before: number }} Answer
 */

/**
 * About `rate` requests per second for so many seconds. Each connection waits between its requests, so answers that come
 * late slow the load down by little.
 * @param {number} port @param {number} rate @param {number} seconds
 * @returns {Promise<Answer[]>}
 */
export async function openLoad(port, rate, seconds) {
  const wait = (CONNECTIONS / rate) * 1000
  const loads = Object.entries(SHARES).map(([priority, share]) =>
    byWrk(port, { priority, connections: Math.round(CONNECTIONS * share), wait, seconds }),
  )
  return (await Promise.all(loads)).flat()
}

/** One request after the other on so many connections. @param {number} port @param {number} connections @param {number} seconds */
export function closedLoad(port, connections, seconds) {
  return byWrk(port, { priority: 'normal', connections, wait: 0, seconds })
}

/**
 * @param {number} port
 * @param {{ priority: string, connections: number, wait: number, seconds: number }} load
 * @returns {Promise<Answer[]>}
 */
async function byWrk(port, { priority, connections, wait, seconds }) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-shed-'))
  const file = join(folder, 'answers')
  const start = Date.now()
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', SCRIPT]
  try {
    await run('wrk', [...args, `http://127.0.0.1:${port}`, '--', priority, String(wait), file])
    const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
    return lines.map((line) => {
      const [at = 0, status = 0, took = 0, before = 0] = line.split(' ').map(Number)
      return { priority, status, at: at - start, took: took / 1000, before: before / 1000 }
    })
  } finally {
    await rm(folder, { recursive: true })
  }
}
