// The results as markdown tables. Reads the plain data that the measurements gave, and nothing else.
import { finite, median } from '../lib/statistics.mjs'
import { figure, markdownTable, withSpread } from '../lib/table.mjs'
import { aloneTable } from './alone.mjs'
import { loads } from './loads.mjs'
import { ratioTable } from './ratios.mjs'
import { isMet, targetsOf } from './targets.mjs'

/** @typedef {import('./cell.mjs').Measured} Measured */
/** @typedef {import('./speed.mjs').SpeedResult} SpeedResult */
/** @typedef {import('./memory.mjs').MemoryResult} MemoryResult */
/** @typedef {import('./alone.mjs').AloneResult} AloneResult */
/** @typedef {{ machine: Record<string, string | number>, alone: AloneResult[], speed: SpeedResult[], memory: MemoryResult[], failures: string[] }} Results */

/** @param {Results} results */
export function report({ machine, alone, speed, memory, failures }) {
  const rounds = speed[0]?.rounds.length ?? 0
  const setting = Object.entries(machine).map(([name, value]) => `${name} ${value}`)
  return [
    `${setting.join(', ')}; ${rounds} rounds`,
    '## Against the floor and the best peer, paired by round, steady',
    ratioTable(alone, speed),
    '## One in flight: contenders taking turns',
    aloneTable(alone),
    '## Decisions per second: median of the rounds (least to most)',
    speedTable(speed, 'rate'),
    '## Latency in ms, p50 (least to most) / p99: median of the rounds',
    latencyTable(speed),
    '## Client CPU, us per decision: median of the rounds (least to most)',
    speedTable(speed, 'clientCpu'),
    '## Server CPU, us per decision: median of the rounds (least to most)',
    speedTable(speed, 'serverCpu'),
    '## Script calls at 512 in flight, everything allowed',
    callsTable(speed),
    '## Server memory',
    markdownTable(
      ['', 'bytes per key'],
      memory.map(({ contender, bytesPerKey }) => [contender, bytesPerKey.toFixed(0)]),
    ),
    '## Targets (ratios paired by round, median)',
    targetTable({ alone, speed, memory }),
    ...(failures.length === 0 ? [] : ['## Failed, and left out above', failures.join('\n')]),
  ].join('\n\n')
}

/** @param {SpeedResult[]} speed @param {keyof Measured} what */
function speedTable(speed, what) {
  return tableOf(speed, ({ rounds }) => {
    const values = finite(rounds.map((measured) => measured[what]))
    return values.length > 0 ? withSpread(values) : '-'
  })
}

/** @param {SpeedResult[]} speed */
function latencyTable(speed) {
  return tableOf(speed, ({ rounds }) => {
    const p50 = finite(rounds.map(({ p50 }) => p50))
    const p99 = finite(rounds.map(({ p99 }) => p99))
    return p50.length > 0 ? `${withSpread(p50)} / ${figure(median(p99))}` : '-'
  })
}

/** @param {SpeedResult[]} speed @param {(cell: SpeedResult) => string} show */
function tableOf(speed, show) {
  const rows = namesOf(speed).map((name) => [
    name,
    ...loads.map((load) => {
      const cell = speed.find(
        ({ contender, share, inFlight }) =>
          contender === name && share === load.share && inFlight === load.inFlight,
      )
      return cell ? show(cell) : '-'
    }),
  ])
  return markdownTable(['', ...loads.map(({ share, inFlight }) => `${share} @${inFlight}`)], rows)
}

/** @param {SpeedResult[]} speed */
function callsTable(speed) {
  const head = [
    '',
    'decisions per call',
    'CPU us',
    'mean us',
    'p50 us',
    'p99 us',
    'calls over 1 ms',
  ]
  const rows = speed
    .filter(({ share, inFlight }) => share === 'allowed' && inFlight === 512)
    .map(({ contender, rounds }) => {
      const middle = (/** @type {keyof Measured} */ what) =>
        figure(median(finite(rounds.map((measured) => measured[what]))))
      const sum = (/** @type {keyof Measured} */ what) =>
        rounds.reduce((total, measured) => total + measured[what], 0)
      const slow = `${sum('slowCalls')} of ${sum('calls')}`
      const cpu = median(finite(rounds.map(({ serverCpu, perCall }) => serverCpu * perCall)))
      const times = ['microsPerCall', 'p50MicrosPerCall', 'p99MicrosPerCall']
      const middles = times.map((what) => middle(/** @type {keyof Measured} */ (what)))
      return [contender, middle('perCall'), figure(cpu), ...middles, slow]
    })
  return markdownTable(head, rows)
}

/** @param {import('./targets.mjs').Figures} figures */
function targetTable(figures) {
  const rows = targetsOf(figures).map((target) => {
    const { name, against, value, atLeast, atMost } = target
    if (atLeast === undefined && atMost === undefined)
      return [name, against, figure(value), '-', '-']
    const bound = atLeast === undefined ? `<= ${figure(atMost)}` : `>= ${figure(atLeast)}`
    return [name, against, figure(value), bound, isMet(target) ? 'yes' : 'no']
  })
  return markdownTable(['', 'against', 'value', 'target', 'met'], rows)
}

/** @param {SpeedResult[]} speed */
const namesOf = (speed) => [...new Set(speed.map(({ contender }) => contender))]
