// Prints the results of the service's benchmark as tables.
import { loads } from './loads.mjs'
import { median, ratios } from '../lib/statistics.mjs'
import { figure, markdownTable, withSpread } from '../lib/table.mjs'

/** @typedef {{ contender: string, load: string, cells: import('./measure.mjs').Cell[] }} Result one cell for each round */

const OURS = 'sluice serve'
const FLOOR = 'floor'
const ECHO = 'bare echo'

/** @param {{ machine: object, rounds: number, results: Result[] }} measured */
export function report({ machine, rounds, results }) {
  const about = Object.entries(machine).map(([name, value]) => `${name} ${value}`)
  return [
    `${about.join(', ')}; ${rounds} rounds, medians (least–most)`,
    '## Decisions',
    markdownTable(
      ['', 'load', 'per second', 'per CPU-second', 'CPU µs a request', 'p50 ms', 'p99 ms'],
      results.map(({ contender, load, cells }) => [
        contender,
        load,
        withSpread(cells.map(({ perSecond }) => perSecond)),
        withSpread(cells.map(({ perCpuSecond }) => perCpuSecond)),
        withSpread(cells.map(({ perCpuSecond }) => (1e6 * decisionsOf(load)) / perCpuSecond)),
        figure(median(cells.map((cell) => cell.median))),
        figure(median(cells.map((cell) => cell.slowest))),
      ]),
    ),
    '## Cold: the first second of each load. Servers are started once, so all but the first load find some code warm',
    markdownTable(
      ['', 'load', 'per second', 'per CPU-second'],
      results.map(({ contender, load, cells }) => [
        contender,
        load,
        figure(cells[0]?.cold?.perSecond),
        figure(cells[0]?.cold?.perCpuSecond),
      ]),
    ),
    '## Ours against the floor, which answers as many bytes, and against an echo of the request: CPU of a request, paired by round: median (least–most)',
    markdownTable(
      ['load', '× floor', '× echo'],
      [...new Set(results.map(({ load }) => load))].map((load) => [
        load,
        withSpread(costs(results, load, FLOOR)),
        withSpread(costs(results, load, ECHO)),
      ]),
    ),
  ].join('\n\n')
}

/** The decisions in each request of a load. @param {string} load */
const decisionsOf = (load) => loads.find(({ name }) => name === load)?.decisions ?? NaN

/** What a request costs ours against another, round by round. @param {Result[]} results @param {string} load @param {string} other */
function costs(results, load, other) {
  const of = (/** @type {string} */ contender) =>
    results
      .find((result) => result.contender === contender && result.load === load)
      ?.cells.map((cell) => cell.perCpuSecond) ?? []
  return ratios(of(other), of(OURS))
}
