// Prints the results of the service's benchmark as tables.
import { median, pairedRatio } from '../lib/statistics.mjs'
import { figure, markdownTable } from '../lib/table.mjs'

/** @typedef {{ contender: string, load: string, cells: import('./measure.mjs').Cell[] }} Result one cell for each round */

const OURS = 'sluice serve'
const FLOOR = 'bare echo'

/** @param {{ machine: object, rounds: number, results: Result[] }} measured */
export function report({ machine, rounds, results }) {
  const about = Object.entries(machine).map(([name, value]) => `${name} ${value}`)
  return [
    `${about.join(', ')}; ${rounds} rounds, medians`,
    '## Decisions',
    markdownTable(
      ['', 'load', 'per second', 'per CPU-second', 'p50 ms', 'p99 ms'],
      results.map(({ contender, load, cells }) => [
        contender,
        load,
        .../** @type {const} */ (['perSecond', 'perCpuSecond', 'median', 'slowest']).map((name) =>
          figure(median(cells.map((cell) => cell[name]))),
        ),
      ]),
    ),
    '## Ours / bare echo of the same body (paired, median)',
    markdownTable(
      ['load', 'per second', 'per CPU-second'],
      [...new Set(results.map(({ load }) => load))].map((load) => [
        load,
        figure(ratio(results, load, 'perSecond')),
        figure(ratio(results, load, 'perCpuSecond')),
      ]),
    ),
  ].join('\n\n')
}

/** @param {Result[]} results @param {string} load @param {'perSecond' | 'perCpuSecond'} name */
function ratio(results, load, name) {
  const of = (/** @type {string} */ contender) =>
    results
      .find((result) => result.contender === contender && result.load === load)
      ?.cells.map((cell) => cell[name]) ?? []
  return pairedRatio(of(OURS), of(FLOOR))
}
