// Measures the speed table: every contender under every load, round after round, on one server.
import { measureInChild } from '../lib/child.mjs'
import { interleaved } from '../lib/rounds.mjs'
import { figure } from '../lib/table.mjs'
import { loads } from './loads.mjs'
import { measureRedisBenchmark, REDIS_BENCHMARK } from './redis-benchmark.mjs'

/** @typedef {import('./cell.mjs').Measured} Measured */
/** @typedef {import('./loads.mjs').Load & { contender: string, rounds: Measured[] }} SpeedResult */

/**
 * @param {readonly string[]} contenders
 * @param {{ rounds: number, share: number, minutes: number, url: string }} options no round begins after so many minutes
 * @param {(line: string) => void} progress
 * @returns {Promise<SpeedResult[]>}
 */
export async function measureSpeed(contenders, { rounds, share, minutes, url }, progress) {
  const names = [...contenders, REDIS_BENCHMARK]
  const results = names.flatMap((contender) =>
    loads.map((load) => /** @type {SpeedResult} */ ({ contender, ...load, rounds: [] })),
  )
  const end = Date.now() + minutes * 60_000
  let done = 0
  for (const { round, cell } of interleaved(names, rounds)) {
    if (done % names.length === 0 && Date.now() > end) break
    const measured =
      cell === REDIS_BENCHMARK
        ? await byRedisBenchmark(url, share)
        : await measureInChild(new URL('./cell.mjs', import.meta.url), {
            contender: cell,
            url,
            share,
          })
    const own = results.filter(({ contender }) => contender === cell)
    for (const [i, result] of own.entries()) if (measured[i]) result.rounds[round] = measured[i]
    done += 1
    const rates = own.map(({ rounds }) => figure(rounds[round]?.rate)).join(', ')
    progress(`${done}/${names.length * rounds} ${cell}: ${rates} decisions/s`)
  }
  return results.filter(({ rounds }) => rounds.length > 0)
}

/** In the order of the loads; it knows nothing of refusals. @param {string} url @param {number} part of the loads' decisions */
async function byRedisBenchmark(url, part) {
  const measured = []
  for (const { share, inFlight, decisions } of loads) {
    measured.push(
      share === 'allowed'
        ? await measureRedisBenchmark(url, inFlight, decisions * part)
        : undefined,
    )
  }
  return measured
}
