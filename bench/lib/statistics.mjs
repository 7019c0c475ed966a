// What is read out of several rounds: medians, and ratios taken inside each round.

/** The middle value, or the mean of the two in the middle; NaN of nothing. @param {readonly number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[middle] ?? NaN
  return ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2
}

/** Those that were measured: what failed is NaN, and null in JSON. @param {readonly number[]} values */
export function finite(values) {
  return values.filter((value) => Number.isFinite(value))
}

/** The value that a quarter stay below: what something costs while the neighbours are quiet. @param {readonly number[]} values */
export function lowerQuartile(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 2] ?? NaN
}

/** The value that a quarter stay above. @param {readonly number[]} values */
export function upperQuartile(values) {
  return values.toSorted((a, b) => a - b)[values.length - 1 - (values.length >> 2)] ?? NaN
}

/**
 * a[i] / b[i]: both sides of a ratio saw the same neighbours. Pairs of which one failed are left out.
 * @param {readonly number[]} a
 * @param {readonly number[]} b
 */
export function ratios(a, b) {
  const pairs = Math.min(a.length, b.length)
  return finite(Array.from({ length: pairs }, (_, i) => (a[i] ?? NaN) / (b[i] ?? NaN)))
}

/** The median of the {@link ratios}. @param {readonly number[]} a @param {readonly number[]} b */
export function pairedRatio(a, b) {
  return median(ratios(a, b))
}
