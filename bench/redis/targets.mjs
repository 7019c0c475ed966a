// What we promise of the Redis store, as ratios inside one run, and whether this run keeps it.
import { finite, median, pairedRatio } from '../lib/statistics.mjs'
import { BATCHED, BATCHED_THREE, ONE_EACH, ONE_LIMIT, THREE_LIMITS } from './contenders.mjs'
import { PEERS, roundsOf, turnsOf } from './values.mjs'

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
    pairedRatio(roundsOf(speed, a, inFlight, what), roundsOf(speed, b, inFlight, what))
  /** @param {keyof Measured} what */
  const middle = (what) => median(finite(roundsOf(speed, ONE_LIMIT, 512, what)))
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
        roundsOf(speed, ONE_LIMIT, 512, 'rate', 'refused'),
        roundsOf(speed, BATCHED, 512, 'rate', 'refused'),
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
      value: pairedRatio(turnsOf(alone, ONE_LIMIT, 'p50'), turnsOf(alone, ONE_EACH, 'p50')),
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
    median(finite(roundsOf(speed, name, inFlight, 'rate')))
  const measured = PEERS.filter((name) => speed.some(({ contender }) => contender === name))
  return measured.toSorted((a, b) => rate(b) - rate(a))[0] ?? '-'
}

/** Against each peer: never slower. @param {Figures['alone']} alone @returns {Target[]} */
function peersAlone(alone) {
  return PEERS.filter((name) => alone.some(({ contender }) => contender === name)).map((name) => ({
    name: '1 in flight, p50, in turns',
    against: name,
    value: pairedRatio(turnsOf(alone, ONE_LIMIT, 'p50'), turnsOf(alone, name, 'p50')),
    atMost: 1,
  }))
}
