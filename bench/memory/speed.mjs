// Measures the speed table: every contender under every load, round after round.
import { measureInChild } from '../lib/child.mjs'
import { interleaved } from '../lib/rounds.mjs'
import { figure } from '../lib/table.mjs'
import { loads } from './loads.mjs'

/** @typedef {import('./contenders.mjs').Contender} Contender */
/** @typedef {import('./loads.mjs').Share} Share */
/** @typedef {{ contender: string, load: string, share: Share, rates: number[], bests: number[] }} SpeedResult decisions per CPU-second, one number for each round */

/**
 * @param {readonly Contender[]} contenders
 * @param {{ rounds: number, slices: number, shares: readonly Share[] }} options
 * @param {(line: string) => void} progress
 * @returns {Promise<SpeedResult[]>}
 */
export async function measureSpeed(contenders, { rounds, slices, shares }, progress) {
  const cells = loads.flatMap((load) =>
    contenders.map((contender) => ({ contender: contender.name, load: load.name })),
  )
  const results = cells.flatMap((cell) =>
    shares.map((share) => /** @type {SpeedResult} */ ({ ...cell, share, rates: [], bests: [] })),
  )
  let done = 0
  for (const { round, cell } of interleaved(cells, rounds)) {
    const measured = await measureCell({ ...cell, shares, slices })
    for (const result of results) {
      if (result.contender !== cell.contender || result.load !== cell.load) continue
      const { rate, best } = measured[result.share]
      result.rates[round] = rate
      result.bests[round] = best
    }
    done += 1
    const rates = shares.map((share) => `${share} ${figure(measured[share].rate)}/s`).join(', ')
    progress(`${done}/${cells.length * rounds} ${cell.contender}, ${cell.load}: ${rates}`)
  }
  return results
}

/** Measures once more when the counts were wrong: at midnight UTC, the windows of some contenders end. @param {import('./cell.mjs').CellInput} input */
async function measureCell(input) {
  const cell = new URL('./cell.mjs', import.meta.url)
  return measureInChild(cell, input).catch(() => measureInChild(cell, input))
}
