// One row for each load that we compare ourselves under: the floor, the best of the peers, Sluice, and the ratios to both.
import { finite, median, ratios } from '../lib/statistics.mjs'
import { figure, markdownTable, withSpread } from '../lib/table.mjs'
import { BATCHED, BATCHED_THREE, ONE_EACH, ONE_LIMIT, THREE_LIMITS } from './contenders.mjs'
import { PEERS, roundsOf, turnsOf } from './values.mjs'

/** @typedef {import('./cell.mjs').Measured} Measured */
/** @typedef {import('./alone.mjs').AloneResult} AloneResult */
/** @typedef {import('./speed.mjs').SpeedResult} SpeedResult */
/** @typedef {{ title: string, ours?: string, floor: string, isHigh?: boolean, of: (name: string) => number[] }} Row `of`: what a contender had, round by round; `isHigh`: more is better */

/** @param {readonly AloneResult[]} alone @param {readonly SpeedResult[]} speed */
export function ratioTable(alone, speed) {
  const head = ['', 'floor', 'best peer', 'Sluice', '× floor (least–most)', '× best peer']
  const rows = rowsOf(alone, speed).map(({ title, ours = ONE_LIMIT, floor, isHigh, of }) => {
    const middle = (/** @type {string} */ name) => median(finite(of(name)))
    const sign = isHigh === true ? -1 : 1
    const [best] =
      ours === ONE_LIMIT ? measured(of).toSorted((a, b) => sign * (middle(a) - middle(b))) : []
    const against = (/** @type {string} */ other) => ratios(of(ours), of(other))
    return [
      title,
      figure(middle(floor)),
      best === undefined ? '-' : `${figure(middle(best))} ${best}`,
      figure(middle(ours)),
      withSpread(against(floor)),
      best === undefined ? '-' : withSpread(against(best)),
    ]
  })
  return markdownTable(head, rows)
}

/** The peers that have figures. @param {Row['of']} of */
const measured = (of) => PEERS.filter((name) => finite(of(name)).length > 0)

/** @param {readonly AloneResult[]} alone @param {readonly SpeedResult[]} speed @returns {Row[]} */
function rowsOf(alone, speed) {
  /** @param {'p50' | 'cpu'} what */
  const turns = (what) => (/** @type {string} */ name) => turnsOf(alone, name, what)
  /** @param {keyof Measured} what @param {number} inFlight @param {import('./loads.mjs').Share} [share] */
  const rounds = (what, inFlight, share) => (/** @type {string} */ name) =>
    roundsOf(speed, name, inFlight, what, share)
  const three = { ours: THREE_LIMITS, floor: BATCHED_THREE }
  return [
    { title: 'one in flight, p50 µs', floor: ONE_EACH, of: turns('p50') },
    { title: 'one in flight, client CPU µs', floor: ONE_EACH, of: turns('cpu') },
    { title: '64 in flight, decisions/s', floor: BATCHED, isHigh: true, of: rounds('rate', 64) },
    { title: '512 in flight, decisions/s', floor: BATCHED, isHigh: true, of: rounds('rate', 512) },
    { title: '512 in flight, client CPU µs', floor: BATCHED, of: rounds('clientCpu', 512) },
    { title: '512 in flight, server CPU µs', floor: BATCHED, of: rounds('serverCpu', 512) },
    {
      title: 'refused, 512 in flight, decisions/s',
      floor: BATCHED,
      isHigh: true,
      of: rounds('rate', 512, 'refused'),
    },
    {
      title: 'refused, 512 in flight, client CPU µs',
      floor: BATCHED,
      of: rounds('clientCpu', 512, 'refused'),
    },
    {
      title: 'three limits, 512 in flight, decisions/s',
      ...three,
      isHigh: true,
      of: rounds('rate', 512),
    },
    { title: 'three limits, 512 in flight, client CPU µs', ...three, of: rounds('clientCpu', 512) },
    { title: 'three limits, 512 in flight, server CPU µs', ...three, of: rounds('serverCpu', 512) },
  ]
}
