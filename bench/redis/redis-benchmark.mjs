// The minimal script driven by redis-benchmark: what the server can do when the client costs nothing.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ioredis } from './clients.mjs'
import { argsOf, hash, script } from './floors.mjs'
import { serverFigures } from './server-figures.mjs'

/** @typedef {import('./cell.mjs').Measured} Measured */

const run = promisify(execFile)
const KEYS = 10_000
const SETTINGS = { burst: 50_000_000, quota: 1, window: 60_000 }

export const REDIS_BENCHMARK = 'floor, redis-benchmark'

/**
 * So many calls over one connection, with a pipeline of `inFlight`; undefined when there is no redis-benchmark.
 * @param {string} url @param {number} inFlight @param {number} calls
 * @returns {Promise<Measured | undefined>}
 */
export async function measureRedisBenchmark(url, inFlight, calls) {
  const client = await ioredis(url)
  await client.script('LOAD', script)
  client.disconnect()
  const server = await serverFigures(url)
  await server.clear()
  const words = ['-p', new URL(url).port, '-c', '1', '-P', `${inFlight}`, '-r', `${KEYS}`]
  words.push('-n', `${calls}`, '--csv', 'EVALSHA', hash, '1', 'user:__rand_int__')
  try {
    const { result, served } = await server.during(() =>
      run('redis-benchmark', [...words, ...argsOf({ url, ...SETTINGS })]),
    )
    // "test","rps","avg","min","p50","p95","p99","max"
    const line = result.stdout.trim().split('\n').at(-1) ?? ''
    const [rate = NaN, , , p50 = NaN, , p99 = NaN] = line
      .split('","')
      .slice(1)
      .map((word) => Number.parseFloat(word))
    return {
      rate,
      p50,
      p99,
      clientCpu: NaN,
      serverCpu: (1e6 * served.cpuSeconds) / calls,
      perCall: 1,
      microsPerCall: served.microsPerCall,
      p50MicrosPerCall: served.p50MicrosPerCall,
      p99MicrosPerCall: served.p99MicrosPerCall,
      calls: served.calls,
      slowCalls: served.slowCalls,
    }
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return undefined
    throw error
  } finally {
    server.close()
  }
}
