// Measures contenders on real sockets with wrk: requests per second, and the server's CPU for each.
import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { interleaved } from '../lib/rounds.mjs'
import { figure } from '../lib/table.mjs'

/** @typedef {{ framework: string, contender: string, socket: 'IPv4' | 'dual-stack', store: 'memory' | 'Redis', rates: number[], micros: number[] }} TcpResult */

const CONNECTIONS = 64
const run = promisify(execFile)

/**
 * @param {readonly import('./contenders.mjs').Contender[]} contenders
 * @param {{ rounds: number, seconds: number, redis: string, isQuick: boolean }} plan
 * @param {(line: string) => void} progress
 * @returns {Promise<TcpResult[]>}
 */
export async function measureTcp(contenders, { rounds, seconds, redis, isQuick }, progress) {
  const places = /** @type {const} */ ([
    ['IPv4', 'memory'],
    ['dual-stack', 'memory'],
    ['IPv4', 'Redis'],
  ])
  const results = []
  for (const [socket, store] of isQuick ? places.slice(1, 2) : places) {
    for (const framework of new Set(contenders.map(({ framework }) => framework))) {
      const chosen = contenders
        .filter((one) => one.framework === framework)
        .filter(({ kind }) => store === 'memory' || kind === 'ours' || kind === 'peer')
        .filter(({ name }) => !isQuick || !name.includes('x-ratelimit'))
      const servers = await Promise.all(
        chosen.map(async ({ name }) => ({
          result: /** @type {TcpResult} */ ({
            framework,
            contender: name,
            socket,
            store,
            rates: [],
            micros: [],
          }),
          ...(await start({
            framework,
            name,
            host: socket === 'IPv4' ? '127.0.0.1' : '::',
            ...(store === 'Redis' ? { redis } : {}),
          })),
        })),
      )
      for (const { port } of servers) await load(port, 1)
      for (const { round, cell } of interleaved(servers, rounds)) {
        const before = await cell.cpu()
        const { requests, rate } = await load(cell.port, seconds)
        cell.result.rates[round] = rate
        cell.result.micros[round] = (((await cell.cpu()) - before) / requests) * 1e6
      }
      for (const { result, stop } of servers) {
        stop()
        results.push(result)
      }
      progress(
        `${framework}, ${socket}, ${store}: ${servers
          .map(({ result }) => `${result.contender} ${figure(result.rates[0])}/s`)
          .join(', ')}`,
      )
    }
  }
  return results
}

/** @param {object} input */
async function start(input) {
  const child = fork(fileURLToPath(new URL('./server.mjs', import.meta.url)), [
    JSON.stringify(input),
  ])
  const [{ address }] = await once(child, 'message')
  return {
    port: /** @type {number} */ (address.port),
    async cpu() {
      child.send('cpu')
      const [{ cpu }] = await once(child, 'message')
      return /** @type {number} */ (cpu)
    },
    stop: () => child.disconnect(),
  }
}

/** One run of wrk, over IPv4. @param {number} port @param {number} seconds */
async function load(port, seconds) {
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, `http://127.0.0.1:${port}/hello`]
  const { stdout } = await run('wrk', args)
  if (/Non-2xx/.test(stdout)) throw new Error(`wrk saw refusals:\n${stdout}`)
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1])
  return { requests, rate: Number(/Requests\/sec:\s*([\d.]+)/.exec(stdout)?.[1]) }
}
