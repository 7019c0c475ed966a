// The results as markdown tables. Reads the plain data that the measurements gave, and nothing else.
import { lowerQuartile, median, upperQuartile } from '../lib/statistics.mjs'
import { figure, markdownTable } from '../lib/table.mjs'
import { contenders } from './contenders.mjs'

/** @typedef {import('./speed.mjs').SpeedResult} SpeedResult */
/** @typedef {import('./tcp.mjs').TcpResult} TcpResult */
/** @typedef {{ machine: Record<string, string | number>, turns: number, speed: SpeedResult[], tcp: TcpResult[] }} Results */

/** @param {Results} results */
export function report({ machine, turns, speed, tcp }) {
  return [
    `${Object.entries(machine)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}; ${turns} turns`,
    '## CPU µs that each adds to a request, without a network: medians of the differences turn by turn (lower–upper quartile); cold: the first 1,000 requests of a process',
    speedTable(speed),
    '## Ours against the floor, and against each peer with the same fields (medians)',
    ratioTable(speed),
    '## On sockets, wrk with 64 connections: requests per second (CPU µs of the server per request)',
    tcpTable(tcp),
  ].join('\n\n')
}

/** What a contender adds to its bare framework in the same turn: the machine changes its speed from one to the next. @param {SpeedResult[]} speed @param {SpeedResult} cell */
function added(speed, cell) {
  const bare = speed.find(
    ({ framework, contender, setting }) =>
      framework === cell.framework && contender === 'bare' && setting === cell.setting,
  )
  const more = cell.micros.map((micros, turn) => micros - (bare?.micros[turn] ?? NaN))
  return { low: lowerQuartile(more), middle: median(more), high: upperQuartile(more) }
}

/** @param {SpeedResult[]} speed */
function speedTable(speed) {
  const settings = [...new Set(speed.map(({ setting }) => setting))]
  const rows = pairsOf(speed).map(([framework, contender]) => [
    framework,
    contender,
    ...settings.map((setting) => {
      const cell = cellOf(speed, framework, contender, setting)
      if (cell === undefined) return '-'
      if (contender === 'bare') return `${figure(median(cell.micros))} in all`
      const { low, middle, high } = added(speed, cell)
      return `+${figure(middle)} (${figure(low)}–${figure(high)})`
    }),
  ])
  return markdownTable(['', '', ...settings], rows)
}

/** @param {SpeedResult[]} speed */
function ratioTable(speed) {
  const settings = [...new Set(speed.map(({ setting }) => setting))]
  const rows = contenders.flatMap(({ framework, name, kind, rival }) => {
    if (kind !== 'floor' && kind !== 'peer') return []
    const ours = kind === 'floor' ? 'sluice' : (rival ?? '')
    const target = kind === 'floor' ? 1.5 : 0.6
    return [
      [
        framework,
        `${ours} / ${name}`,
        `≤ ${target}`,
        ...settings.map((setting) => {
          const mine = cellOf(speed, framework, ours, setting)
          const other = cellOf(speed, framework, name, setting)
          if (mine === undefined || other === undefined) return '-'
          const ratio = added(speed, mine).middle / added(speed, other).middle
          return `${figure(ratio)}${ratio <= target ? '' : ' missed'}`
        }),
      ],
    ]
  })
  return markdownTable(['', '', 'target', ...settings], rows)
}

/** @param {TcpResult[]} tcp */
function tcpTable(tcp) {
  const places = [...new Set(tcp.map(({ socket, store }) => `${socket}, ${store}`))]
  const rows = pairsOf(tcp).map(([framework, contender]) => [
    framework,
    contender,
    ...places.map((place) => {
      const cell = tcp.find(
        (one) =>
          one.framework === framework &&
          one.contender === contender &&
          `${one.socket}, ${one.store}` === place,
      )
      return cell ? `${figure(median(cell.rates))} (${figure(median(cell.micros))})` : '-'
    }),
  ])
  return markdownTable(['', '', ...places], rows)
}

/** @param {SpeedResult[]} speed @param {string} framework @param {string} contender @param {string} setting */
const cellOf = (speed, framework, contender, setting) =>
  speed.find(
    (one) => one.framework === framework && one.contender === contender && one.setting === setting,
  )

/** @param {readonly { framework: string, contender: string }[]} results */
const pairsOf = (results) =>
  contenders
    .filter(({ framework, name }) =>
      results.some((one) => one.framework === framework && one.contender === name),
    )
    .map(({ framework, name }) => /** @type {const} */ ([framework, name]))
