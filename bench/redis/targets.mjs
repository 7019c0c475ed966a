// What we promise of the Redis store, as ratios inside one run, and whether this run keeps it.
import { median, pairedRatio } from '../lib/statistics.mjs'
import {
  BATCHED,
  BATCHED_THREE,
  contenders,
  ONE_EACH,
  ONE_LIMIT,
  THREE_LIMITS,
} from './contenders.mjs'

/** @typedef {import('./cell.mjs').Measured} Measured */
/** @typedef {import('./speed.mjs').SpeedResult} SpeedResult */
/** @typedef {{ speed: SpeedResult[], memory: import('./memory.mjs').MemoryResult[] }} Figures */
/** @typedef {{ name: string, against: string, value: number, atLeast?: number, atMost?: number }} Target */

/** @param {Figures} figures @returns {Target[]} */
export function targetsOf({ speed, memory }) {
  const peer512 = fastestPeer(speed, 512)
  const peer64 = fastestPeer(speed, 64)
  /** @param {string} a @param {string} b @param {number} inFlight @param {keyof Measured} what */
  const ratio = (a, b, inFlight, what) =>
    pairedRatio(valuesOf(speed, a, inFlight, what), valuesOf(speed, b, inFlight, what))
  /** @param {keyof Measured} what */
  const middle = (what) => median(valuesOf(speed, ONE_LIMIT, 512, what))
  const three = [1, 64, 512].flatMap((inFlight) => [
    {
      name: `three limits, ${inFlight} in flight, time per decision`,
      against: ONE_LIMIT,
      value: 1 / ratio(THREE_LIMITS, ONE_LIMIT, inFlight, 'rate'),
      atMost: 1.6,
    },
    {
      name: `three limits, ${inFlight} in flight, server CPU`,
      against: ONE_LIMIT,
      value: ratio(THREE_LIMITS, ONE_LIMIT, inFlight, 'serverCpu'),
      atMost: 1.6,
    },
  ])
  return [
    {
      name: '512 in flight, decisions/s',
      against: peer512,
      value: ratio(ONE_LIMIT, peer512, 512, 'rate'),
      atLeast: 1.8,
    },
    {
      name: '512 in flight, client CPU',
      against: peer512,
      value: ratio(ONE_LIMIT, peer512, 512, 'clientCpu'),
      atMost: 1 / 3.5,
    },
    {
      name: '512 in flight, server CPU',
      against: peer512,
      value: ratio(ONE_LIMIT, peer512, 512, 'serverCpu'),
      atMost: 0.65,
    },
    {
      name: '64 in flight, decisions/s',
      against: peer64,
      value: ratio(ONE_LIMIT, peer64, 64, 'rate'),
      atLeast: 1.2,
    },
    {
      name: '1 in flight, p50',
      against: ONE_EACH,
      value: ratio(ONE_LIMIT, ONE_EACH, 1, 'p50'),
      atMost: 1.05,
    },
    ...three,
    {
      name: 'the floor: three keys, 512 in flight, server CPU',
      against: BATCHED,
      value: ratio(BATCHED_THREE, BATCHED, 512, 'serverCpu'),
    },
    {
      name: 'server memory, bytes per count',
      against: '-',
      value: memory.find(({ contender }) => contender === ONE_LIMIT)?.bytesPerKey ?? NaN,
      atMost: 170,
    },
    {
      name: 'one call at 512 in flight, mean ms',
      against: '-',
      value: middle('microsPerCall') / 1000,
      atMost: 1,
    },
    {
      name: 'one call at 512 in flight, p50 ms',
      against: '-',
      value: middle('p50MicrosPerCall') / 1000,
      atMost: 1,
    },
  ]
}

/** @param {Target} target */
export function isMet({ value, atLeast = -Infinity, atMost = Infinity }) {
  return value >= atLeast && value <= atMost
}

/** @param {SpeedResult[]} speed @param {number} inFlight */
function fastestPeer(speed, inFlight) {
  const rate = (/** @type {string} */ name) => median(valuesOf(speed, name, inFlight, 'rate'))
  const peers = contenders.filter(({ kind }) => kind === 'peer').map(({ name }) => name)
  const measured = peers.filter((name) => speed.some(({ contender }) => contender === name))
  return measured.toSorted((a, b) => rate(b) - rate(a))[0] ?? '-'
}

/** One number for each round, everything allowed. @param {SpeedResult[]} speed @param {string} name @param {number} inFlight @param {keyof Measured} what */
function valuesOf(speed, name, inFlight, what) {
  const cell = speed.find(
    ({ contender, share, inFlight: load }) =>
      contender === name && share === 'allowed' && load === inFlight,
  )
  return cell?.rounds.map((measured) => measured[what]) ?? []
}
