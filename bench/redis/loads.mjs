// The loads that every contender is put under.

/** @typedef {'allowed' | 'refused'} Share everything is allowed, or everything refused */
/** @typedef {{ share: Share, inFlight: number, decisions: number }} Load */

/**
 * Many decisions, since the compiler works for the first hundred thousand or so, and its time counts too.
 * @type {readonly Load[]}
 */
export const loads = [
  { share: 'allowed', inFlight: 1, decisions: 4000 },
  { share: 'allowed', inFlight: 64, decisions: 200_000 },
  { share: 'allowed', inFlight: 512, decisions: 200_000 },
  { share: 'refused', inFlight: 64, decisions: 200_000 },
  { share: 'refused', inFlight: 512, decisions: 200_000 },
]
