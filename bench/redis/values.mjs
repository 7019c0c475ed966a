// What was measured of one contender, for ratios and targets.
import { contenders } from './contenders.mjs'

/** The names of the peers. */
export const PEERS = contenders.filter(({ kind }) => kind === 'peer').map(({ name }) => name)

/**
 * One number for each round of a load; none if it was not measured.
 * @param {readonly import('./speed.mjs').SpeedResult[]} speed
 * @param {string} name
 * @param {number} inFlight
 * @param {keyof import('./cell.mjs').Measured} what
 * @param {import('./loads.mjs').Share} share
 */
export function roundsOf(speed, name, inFlight, what, share = 'allowed') {
  const cell = speed.find(
    (one) => one.contender === name && one.share === share && one.inFlight === inFlight,
  )
  return cell?.rounds.map((measured) => measured[what]) ?? []
}

/**
 * One number for each turn with one request in flight; none if it was not measured.
 * @param {readonly import('./alone.mjs').AloneResult[]} alone
 * @param {string} name
 * @param {'p50' | 'cpu'} what
 */
export function turnsOf(alone, name, what) {
  return alone.find(({ contender }) => contender === name)?.turns.map((turn) => turn[what]) ?? []
}
