// One request in flight: the contenders stand ready in processes of their own and take turns, so that each ratio is of
// the same second. Whole runs side by side move by half on a busy machine, these ratios by a few percent.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { interleaved } from '../lib/rounds.mjs'
import { finite, median, pairedRatio } from '../lib/statistics.mjs'
import { figure, markdownTable, withSpread } from '../lib/table.mjs'
import { contenders, ONE_EACH } from './contenders.mjs'

/** Decisions in one turn, and those before the first turn that counts. */
const TURN = 300
const WARM_UP = 4000

/** @typedef {{ p50: number, cpu: number }} Turn microseconds: the median wait, and the client's processor time per decision */
/** @typedef {{ contender: string, cold: Turn, turns: Turn[] }} AloneResult `cold`: the first turn of the process */

/**
 * A turn that fails is left out of the figures.
 * @param {readonly string[]} names
 * @param {{ turns: number, url: string }} options
 * @param {(line: string) => void} progress
 * @param {string[]} failures gets a line for each turn that failed
 * @returns {Promise<AloneResult[]>}
 */
export async function measureAlone(names, { turns, url }, progress, failures) {
  const measured = []
  for (const contender of names) {
    const cell = await start({ contender, url }, failures)
    /** @type {AloneResult} */
    const result = { contender, cold: await cell.run(TURN), turns: [] }
    await cell.run(WARM_UP)
    measured.push({ cell, result })
  }
  for (const { round, cell: one } of interleaved(measured, turns))
    one.result.turns[round] = await one.cell.run(TURN)
  for (const { cell } of measured) cell.stop()
  progress(`one in flight, in turns: ${measured.length} contenders`)
  return measured.map(({ result }) => result)
}

/** The table, with ratios to a bare EVALSHA. @param {readonly AloneResult[]} results */
export function aloneTable(results) {
  const waits = (/** @type {AloneResult} */ { turns }) => turns.map(({ p50 }) => p50)
  const cpus = (/** @type {AloneResult} */ { turns }) => finite(turns.map(({ cpu }) => cpu))
  const floor = results.find(({ contender }) => contender === ONE_EACH)
  const rows = results.map((result) => [
    result.contender,
    withSpread(finite(waits(result))),
    floor === undefined ? '-' : figure(pairedRatio(waits(result), waits(floor))),
    figure(median(cpus(result))),
    figure(result.cold.p50),
  ])
  const head = ['', 'p50 µs, medians of turns', '× bare EVALSHA', 'client CPU µs', 'cold p50 µs']
  return markdownTable(head, rows)
}

/** The contenders that one request in flight says something about. */
export const aloneNames = contenders
  .filter(({ extra, name }) => extra !== true && !name.includes('three'))
  .map(({ name }) => name)

/** @param {{ contender: string, url: string }} input @param {string[]} failures */
async function start(input, failures) {
  const file = fileURLToPath(new URL('./alone-cell.mjs', import.meta.url))
  const child = fork(file, [JSON.stringify(input)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return {
    /** @param {number} decisions @returns {Promise<Turn>} */
    async run(decisions) {
      child.send(decisions)
      const [turn] = await once(child, 'message')
      if (turn.failure === undefined) return turn
      failures.push(`${input.contender}, one in flight: ${turn.failure}`)
      return { p50: NaN, cpu: NaN }
    },
    stop: () => child.disconnect(),
  }
}
