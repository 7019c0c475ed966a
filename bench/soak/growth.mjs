// Whether a figure of a soak grows: its samples as a line, and what is more than noise.

/**
 * How much a figure grew from the first third of its samples to the last, as medians: the first sample is left out,
 * since everything is new then.
 * @param {readonly number[]} samples
 */
function growthOf(samples) {
  const settled = samples.slice(1)
  const third = Math.max(1, Math.floor(settled.length / 3))
  return { from: median(settled.slice(0, third)), to: median(settled.slice(-third)) }
}

/**
 * The figures that grew by more than a share of themselves and more than a floor, as sentences.
 * @param {Readonly<Record<string, readonly number[]>>} samples
 * @param {Readonly<Record<string, { share: number, floor: number }>>} allowed
 */
export function grown(samples, allowed) {
  return Object.entries(allowed).flatMap(([name, { share, floor }]) => {
    const { from, to } = growthOf(samples[name] ?? [])
    const most = from * (1 + share) + floor
    return to > most ? [`${name} grew from ${from} to ${to}; at most ${most}`] : []
  })
}

/** @param {readonly number[]} numbers */
function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0
}
