// The results as markdown tables. Reads the plain data that the measurements gave, and nothing else.
import { median, pairedRatio } from '../lib/statistics.mjs'
import { figure, markdownTable, withSpread } from '../lib/table.mjs'
import { contenders } from './contenders.mjs'

/** @typedef {import('./speed.mjs').SpeedResult} SpeedResult */
/** @typedef {import('./memory.mjs').MemoryResult} MemoryResult */
/** @typedef {{ machine: Record<string, string | number>, rounds: number, speed: SpeedResult[], memory: MemoryResult[] }} Results */
/** @typedef {{ load: string, share: SpeedResult['share'] }} Column */

/** @param {Results} results */
export function report({ machine, rounds, speed, memory }) {
  const peers = namesOf(({ kind }) => kind === 'peer')
  const promising = namesOf(({ kind, promises }) => kind === 'peer' && promises === true)
  const floors = namesOf(({ kind }) => kind === 'floor')
  const plainFloors = namesOf(({ kind, sharedClock }) => kind === 'floor' && sharedClock !== true)
  return [
    `${Object.entries(machine)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}; ${rounds} rounds`,
    '## Million decisions per CPU-second: median of the rounds (least to most)',
    speedTable(speed),
    '## CPU µs of each of the first 2,000 decisions of a process: median of the rounds (least to most)',
    coldTable(speed),
    '## Ours / best peer (paired, median)',
    ratioTable(speed, peers),
    '## Ours / best peer that answers by promises (paired, median)',
    ratioTable(speed, promising),
    '## Ours / best floor (paired, median)',
    ratioTable(speed, floors),
    '## Ours / best floor that reads the clock for every decision (paired, median)',
    ratioTable(speed, plainFloors),
    '## Time of 32 stamps / of the sliding window (paired, median)',
    stampsTable(speed),
    '## Refused / allowed (paired, median)',
    refusedTable(speed),
    '## Memory, 16-character keys',
    memoryTable(memory),
  ].join('\n\n')
}

/** @param {SpeedResult[]} speed */
function speedTable(speed) {
  const columns = columnsOf(speed)
  const rows = measuredNames(speed).map((name) => [
    name,
    ...columns.map((column) => {
      const cell = cellOf(speed, name, column)
      return cell ? withSpread(cell.rates.map((rate) => rate / 1e6)) : '-'
    }),
  ])
  return markdownTable(['', ...columns.map(titleOf)], rows)
}

/** @param {SpeedResult[]} speed */
function coldTable(speed) {
  const columns = columnsOf(speed).filter(({ share }) => share === 'allowed')
  const rows = measuredNames(speed).map((name) => [
    name,
    ...columns.map((column) => {
      const cell = cellOf(speed, name, column)
      return cell ? withSpread(cell.colds) : '-'
    }),
  ])
  return markdownTable(['', ...columns.map(({ load }) => load)], rows)
}

/** Every one of ours against the fastest of some others, by column. @param {SpeedResult[]} speed @param {readonly string[]} others */
function ratioTable(speed, others) {
  const columns = columnsOf(speed)
  if (!others.some((name) => measuredNames(speed).includes(name)))
    return 'None of them was measured.'
  const rivals = columns.map((column) => fastest(speed, others, column))
  const ours = namesOf(({ kind, aside }) => kind === 'ours' && aside !== true)
  const rows = measuredNames(speed)
    .filter((name) => ours.includes(name))
    .map((name) => [
      name,
      ...columns.map((column, i) => {
        const cell = cellOf(speed, name, column)
        const rival = rivals[i]
        return cell && rival ? figure(pairedRatio(cell.rates, rival.rates)) : '-'
      }),
    ])
  const against = ['against', ...rivals.map((rival) => rival?.contender ?? '-')]
  return markdownTable(['', ...columns.map(titleOf)], [against, ...rows])
}

/** @param {SpeedResult[]} speed */
function stampsTable(speed) {
  const columns = columnsOf(speed)
  const ratios = columns.map((column) => {
    const stamps = cellOf(speed, 'sluice sliding-log, 32 stamps', column)
    const window = cellOf(speed, 'sluice sliding-window', column)
    return stamps && window ? figure(pairedRatio(window.rates, stamps.rates)) : '-'
  })
  return markdownTable(['', ...columns.map(titleOf)], [['32 stamps', ...ratios]])
}

/** @param {SpeedResult[]} speed */
function refusedTable(speed) {
  const columns = columnsOf(speed).filter(({ share }) => share !== 'allowed')
  const rows = measuredNames(speed).map((name) => [
    name,
    ...columns.map((column) => {
      const refused = cellOf(speed, name, column)
      const allowed = cellOf(speed, name, { ...column, share: 'allowed' })
      return refused && allowed ? figure(pairedRatio(refused.rates, allowed.rates)) : '-'
    }),
  ])
  return markdownTable(['', ...columns.map(titleOf)], rows)
}

/** @param {MemoryResult[]} memory */
function memoryTable(memory) {
  const head = [
    '',
    'heap B/key',
    'thousand inserts per CPU-s',
    'the same / floor slab',
    'timers',
    'longest pause inserting, CPU ms',
    'the same, first 10,000 keys of a process',
    'longest pause expiring, CPU ms',
    'heap left after two windows',
  ]
  const inserts = (/** @type {MemoryResult['heap']} */ heap) =>
    heap.map(({ insertsPerSecond }) => insertsPerSecond)
  const slab = memory.find(({ contender }) => contender === 'floor slab')
  const rows = memory.map(({ contender, heap, expiry }) => {
    /** @param {keyof import('./heap.mjs').HeapResult} name */
    const middle = (name) => median(heap.map((result) => result[name]))
    const keys = middle('bytesPerKey') * (heap[0]?.keys ?? NaN)
    return [
      contender,
      middle('bytesPerKey').toFixed(0),
      withSpread(inserts(heap).map((rate) => rate / 1000)),
      slab === undefined ? '-' : figure(pairedRatio(inserts(heap), inserts(slab.heap))),
      middle('timers').toLocaleString('en'),
      middle('pause').toFixed(1),
      middle('cold').toFixed(1),
      expiry ? expiry.pause.toFixed(1) : '-',
      expiry ? `${((100 * expiry.bytesLeft) / keys).toFixed(1)} %` : '-',
    ]
  })
  return markdownTable(head, rows)
}

/** The one with the highest median. @param {SpeedResult[]} speed @param {readonly string[]} names @param {Column} column */
function fastest(speed, names, column) {
  return names
    .flatMap((name) => cellOf(speed, name, column) ?? [])
    .toSorted((a, b) => median(b.rates) - median(a.rates))[0]
}

/** @param {(contender: import('./contenders.mjs').Contender) => boolean} which */
const namesOf = (which) => contenders.filter(which).map(({ name }) => name)

/** @param {SpeedResult[]} speed */
const measuredNames = (speed) => [...new Set(speed.map(({ contender }) => contender))]

/** @param {SpeedResult[]} speed @param {string} name @param {Column} column */
const cellOf = (speed, name, { load, share }) =>
  speed.find((cell) => cell.contender === name && cell.load === load && cell.share === share)

/** @param {SpeedResult[]} speed @returns {Column[]} */
function columnsOf(speed) {
  const titles = new Set(speed.map(({ load, share }) => JSON.stringify({ load, share })))
  return [...titles].map((title) => JSON.parse(title))
}

/** @param {Column} column */
const titleOf = ({ load, share }) => `${load}, ${share}`
