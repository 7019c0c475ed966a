// The loads that every contender is put under.

/** @typedef {'cold' | 'allowed' | 'refused'} Share everything is allowed in a process that has just begun, allowed, or refused */
/** @typedef {{ share: Share, inFlight: number, decisions: number }} Load */

/**
 * Many decisions, since the compiler works for the first hundred thousand or so. What it costs until then is the cold
 * load, which is what a short measurement shows.
 * @type {readonly Load[]}
 */
export const loads = [
  { share: 'cold', inFlight: 1, decisions: 2000 },
  { share: 'allowed', inFlight: 1, decisions: 4000 },
  { share: 'allowed', inFlight: 64, decisions: 200_000 },
  { share: 'allowed', inFlight: 512, decisions: 200_000 },
  { share: 'refused', inFlight: 64, decisions: 200_000 },
  { share: 'refused', inFlight: 512, decisions: 200_000 },
]
