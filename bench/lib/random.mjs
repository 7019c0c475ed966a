// Random numbers that are the same in every run.

/** Numbers in [0, 1) from a seed (mulberry32). @param {number} seed @returns {() => number} */
export function seededRandom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The probability of each rank, 0 being the most frequent. @param {number} ranks @param {number} exponent */
export function zipfShares(ranks, exponent) {
  const shares = new Float64Array(ranks).map((_, rank) => (rank + 1) ** -exponent)
  const sum = shares.reduce((a, b) => a + b)
  return shares.map((share) => share / sum)
}

/** Draws an index by its share. @param {Float64Array} shares @param {() => number} random */
export function sampler(shares, random) {
  let total = 0
  const upTo = shares.map((share) => (total += share))
  return () => {
    const point = random() * total
    let low = 0
    let high = upTo.length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if (/** @type {number} */ (upTo[middle]) > point) high = middle
      else low = middle + 1
    }
    return low
  }
}
