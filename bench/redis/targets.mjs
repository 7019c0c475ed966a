// What we promise of the Redis store, as ratios inside one run, and whether this run keeps it.
import { finite, median, pairedRatio } from '../lib/statistics.mjs'
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
/** @typedef {{ alone: import('./alone.mjs').AloneResult[], speed: SpeedResult[], memory: import('./memory.mjs').MemoryResult[] }} Figures */
/** @typedef {{ name: string, against: string, value: number, atLeast?: number, atMost?: number }} Target */

/** @param {Figures} figures @returns {Target[]} */
export function targetsOf({ alone, speed, memory }) {
  const peer512 = fastestPeer(speed, 512)
  const peer64 = fastestPeer(speed, 64)
  /** @param {string} a @param {string} b @param {number} inFlight @param {keyof Measured} what */
  const ratio = (a, b, inFlight, what) =>
    pairedRatio(valuesOf(speed, a, inFlight, what), valuesOf(speed, b, inFlight, what))
  /** @param {keyof Measured} what */
  const middle = (what) => median(finite(valuesOf(speed, ONE_LIMIT, 512, what)))
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
      atLeast: 2.3,
    },
    {
      name: '512 in flight, decisions/s',
      against: BATCHED,
      value: ratio(ONE_LIMIT, BATCHED, 512, 'rate'),
      atLeast: 0.85,
    },
    {
      name: '512 in flight, client CPU',
      against: BATCHED,
      value: ratio(ONE_LIMIT, BATCHED, 512, 'clientCpu'),
      atMost: 2.6 / 1.82,
    },
    {
      name: '512 in flight, server CPU',
      against: BATCHED,
      value: ratio(ONE_LIMIT, BATCHED, 512, 'serverCpu'),
      atMost: 3.9 / 3.59,
    },
    {
      name: '64 in flight, decisions/s',
      against: peer64,
      value: ratio(ONE_LIMIT, peer64, 64, 'rate'),
      atLeast: 1.2,
    },
    {
      name: '64 in flight, decisions/s',
      against: BATCHED,
      value: ratio(ONE_LIMIT, BATCHED, 64, 'rate'),
      atLeast: 0.8,
    },
    {
      name: 'refused, 512 in flight, decisions/s',
      against: BATCHED,
      value: pairedRatio(
        valuesOf(speed, ONE_LIMIT, 512, 'rate', 'refused'),
        valuesOf(speed, BATCHED, 512, 'rate', 'refused'),
      ),
      atLeast: 0.6,
    },
    {
      name: 'three limits, 512 in flight, decisions/s',
      against: BATCHED_THREE,
      value: ratio(THREE_LIMITS, BATCHED_THREE, 512, 'rate'),
      atLeast: 0.8,
    },
    {
      name: '1 in flight, p50, in turns',
      against: ONE_EACH,
      value: pairedRatio(waitsOf(alone, ONE_LIMIT), waitsOf(alone, ONE_EACH)),
      atMost: 1.1,
    },
    ...peersAlone(alone),
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
  const rate = (/** @type {string} */ name) =>
    median(finite(valuesOf(speed, name, inFlight, 'rate')))
  const peers = contenders.filter(({ kind }) => kind === 'peer').map(({ name }) => name)
  const measured = peers.filter((name) => speed.some(({ contender }) => contender === name))
  return measured.toSorted((a, b) => rate(b) - rate(a))[0] ?? '-'
}

/** Against each peer: never slower. @param {Figures['alone']} alone @returns {Target[]} */
function peersAlone(alone) {
  const peers = contenders.filter(({ kind }) => kind === 'peer').map(({ name }) => name)
  return peers
    .filter((name) => alone.some(({ contender }) => contender === name))
    .map((name) => ({
      name: '1 in flight, p50, in turns',
      against: name,
      value: pairedRatio(waitsOf(alone, ONE_LIMIT), waitsOf(alone, name)),
      atMost: 1,
    }))
}

/** @param {Figures['alone']} alone @param {string} name */
function waitsOf(alone, name) {
  return alone.find(({ contender }) => contender === name)?.turns.map(({ p50 }) => p50) ?? []
}

/**
 * One number for each round.
 * @param {SpeedResult[]} speed
 * @param {string} name
 * @param {number} inFlight
 * @param {keyof Measured} what
 * @param {import('./loads.mjs').Share} share
 */
function valuesOf(speed, name, inFlight, what, share = 'allowed') {
  const cell = speed.find(
    (one) => one.contender === name && one.share === share && one.inFlight === inFlight,
  )
  return cell?.rounds.map((measured) => measured[what]) ?? []
}
