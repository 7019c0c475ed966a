// Measures the speed table: every contender under every load, round after round.
import { measureInChild } from '../lib/child.mjs'
import { interleaved } from '../lib/rounds.mjs'
import { figure } from '../lib/table.mjs'
import { loads } from './loads.mjs'

/** @typedef {import('./contenders.mjs').Contender} Contender */
/** @typedef {import('./loads.mjs').Share} Share */
/** @typedef {{ contender: string, load: string, share: Share, rates: number[], bests: number[], colds: number[] }} SpeedResult decisions per CPU-second, and µs of a cold one, one number for each round */

/**
 * @param {readonly Contender[]} contenders
 * @param {{ rounds: number, slices: number, shares: readonly Share[], isQuick: boolean }} options
 * @param {(line: string) => void} progress
 * @returns {Promise<SpeedResult[]>}
 */
export async function measureSpeed(contenders, { rounds, slices, shares, isQuick }, progress) {
  const measured = loads.filter(({ extra }) => !(isQuick && extra === true))
  const cells = measured.flatMap((load) =>
    contenders.map((contender) => ({ contender: contender.name, load: load.name })),
  )
  const results = cells.flatMap((cell) =>
    shares.map(
      (share) => /** @type {SpeedResult} */ ({ ...cell, share, rates: [], bests: [], colds: [] }),
    ),
  )
  let done = 0
  for (const { round, cell } of interleaved(cells, rounds)) {
    const { cold, shares: of } = await measureCell({ ...cell, shares, slices })
    for (const result of results) {
      if (result.contender !== cell.contender || result.load !== cell.load) continue
      const { rate, best } = /** @type {import('./cell.mjs').CellResult} */ (of[result.share])
      result.rates[round] = rate
      result.bests[round] = best
      result.colds[round] = cold
    }
    done += 1
    const rates = shares.map((share) => `${share} ${figure(of[share]?.rate ?? NaN)}/s`).join(', ')
    progress(`${done}/${cells.length * rounds} ${cell.contender}, ${cell.load}: ${rates}`)
  }
  return results
}

/** Measures once more when the counts were wrong: at midnight UTC, the windows of some contenders end. @param {import('./cell.mjs').CellInput} input */
async function measureCell(input) {
  const cell = new URL('./cell.mjs', import.meta.url)
  return measureInChild(cell, input).catch(() => measureInChild(cell, input))
}
