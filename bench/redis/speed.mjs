// Measures the speed table: every contender under every load, round after round, on one server.
import { measureInChild } from '../lib/child.mjs'
import { interleaved } from '../lib/rounds.mjs'
import { figure } from '../lib/table.mjs'
import { loads } from './loads.mjs'
import { measureRedisBenchmark, REDIS_BENCHMARK } from './redis-benchmark.mjs'

/** @typedef {import('./cell.mjs').Measured} Measured */
/** @typedef {import('./loads.mjs').Load & { contender: string, rounds: Measured[] }} SpeedResult */

/**
 * A load that fails, as refusals may on a busy machine, leaves a gap in its round; the others are kept.
 * @param {readonly string[]} contenders
 * @param {{ rounds: number, share: number, end: number, url: string, withServer: boolean }} options no round begins that would not be over
 *   by `end`; `withServer`: also what the server alone can do
 * @param {(line: string) => void} progress
 * @param {string[]} failures gets a line for each load that failed
 * @returns {Promise<SpeedResult[]>}
 */
export async function measureSpeed(
  contenders,
  { rounds, share, end, url, withServer },
  progress,
  failures,
) {
  const names = withServer ? [...contenders, REDIS_BENCHMARK] : contenders
  const results = names.flatMap((contender) =>
    loads.map((load) => /** @type {SpeedResult} */ ({ contender, ...load, rounds: [] })),
  )
  const start = Date.now()
  let done = 0
  for (const { round, cell } of interleaved(names, rounds)) {
    if (round > 0 && done % names.length === 0) {
      const each = (Date.now() - start) / round
      if (Date.now() + each > end) break
    }
    const { measured, failure } = await (cell === REDIS_BENCHMARK
      ? byRedisBenchmark(url, share)
      : byChild({ contender: cell, url, share }))
    if (failure !== undefined) failures.push(`${cell}, round ${round + 1}, ${failure}`)
    const own = results.filter(({ contender }) => contender === cell)
    for (const [i, result] of own.entries()) {
      const one = measured[i] ?? (failure === undefined ? undefined : FAILED)
      if (one !== undefined) result.rounds[round] = one
    }
    done += 1
    const rates = own.map(({ rounds }) => figure(rounds[round]?.rate)).join(', ')
    const rest = failure === undefined ? '' : `; failed: ${failure}`
    progress(`${done}/${names.length * rounds} ${cell}: ${rates} decisions/s${rest}`)
  }
  return results.filter(({ rounds }) => rounds.length > 0)
}

/** What stands for a load that failed. @type {Measured} */
const FAILED = {
  rate: NaN,
  p50: NaN,
  p99: NaN,
  clientCpu: NaN,
  serverCpu: NaN,
  perCall: NaN,
  microsPerCall: NaN,
  p50MicrosPerCall: NaN,
  p99MicrosPerCall: NaN,
  calls: 0,
  slowCalls: 0,
}

/** @typedef {{ measured: (Measured | undefined)[], failure?: string }} CellResult in the order of the loads */

/** @param {{ contender: string, url: string, share: number }} input @returns {Promise<CellResult>} */
async function byChild(input) {
  try {
    return await measureInChild(new URL('./cell.mjs', import.meta.url), input)
  } catch (error) {
    return {
      measured: [],
      failure: `its process: ${String(error)}`,
    }
  }
}

/** In the order of the loads; it knows nothing of refusals. @param {string} url @param {number} part of the loads' decisions @returns {Promise<CellResult>} */
async function byRedisBenchmark(url, part) {
  const measured = []
  for (const { share, inFlight, decisions } of loads) {
    measured.push(
      share === 'allowed'
        ? await measureRedisBenchmark(url, inFlight, decisions * part)
        : undefined,
    )
  }
  return { measured }
}
