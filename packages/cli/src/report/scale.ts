// Scales of charts: from values to places, with round ticks.

/** Maps values to places, and knows which values to label. */
export interface Scale {
  (value: number): number
  readonly ticks: readonly number[]
}

type Range = readonly [from: number, to: number]

function scaled(
  shape: (value: number) => number,
  [low, high]: Range,
  [from, to]: Range,
  ticks: readonly number[],
): Scale {
  const [start, end] = [shape(low), shape(high)]
  const size = end === start ? 1 : end - start
  const scale = (value: number): number => from + ((shape(value) - start) / size) * (to - from)
  return Object.assign(scale, { ticks: ticks.filter((tick) => tick >= low && tick <= high) })
}

/** From 0 to at least `highest`, with four or five round ticks. */
export function linear(highest: number, range: Range): Scale {
  const step = roundStep(Math.max(1, highest) / 4)
  const top = Math.max(step, Math.ceil(highest / step) * step)
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step)
  return scaled((value) => value, [0, top], range, ticks)
}

/** From `low` to `high`, each ten times as far as the last; ticks at 1, 2 and 5 where there is room. */
export function logarithmic(low: number, high: number, range: Range): Scale {
  const decades = Math.log10(high / low)
  const steps = decades > 4 ? [1] : decades > 2 ? [1, 3] : [1, 2, 5]
  const ticks: number[] = []
  for (let scale = 10 ** Math.floor(Math.log10(low)); scale <= high; scale *= 10)
    for (const step of steps) ticks.push(Math.round(scale * step))
  return scaled(
    (value) => Math.log10(Math.max(value, low)),
    [low, Math.max(high, low * 2)],
    range,
    ticks,
  )
}

const SHARES = [0, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1]

/** Shares from 0 to `highest`, by their square root: small ones, which matter most, have room. */
export function shares(highest: number, range: Range): Scale {
  const top = SHARES.find((share) => share >= highest && share >= 0.01) ?? 1
  // The first ticks lie on each other when the range is large.
  const ticks = SHARES.filter((share) => share === 0 || share >= top / 100)
  return scaled(Math.sqrt, [0, top], range, ticks)
}

/** Quantiles up to `highest`, each nine as far as the last: 90%, 99%, 99.9% at even distances. */
export function quantiles(highest: number, range: Range): Scale {
  const shape = (share: number): number => -Math.log10(1 - Math.min(share, highest))
  return scaled(shape, [0, highest], range, [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999])
}

const TIME_STEPS = [
  1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
  2_419_200, 31_536_000,
].map((seconds) => seconds * 1000)

/** Instants, with ticks at round ones. */
export function times(from: number, to: number, range: Range, most = 8): Scale {
  const step = TIME_STEPS.find((one) => (to - from) / one <= most) ?? TIME_STEPS.at(-1)!
  const ticks: number[] = []
  for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) ticks.push(tick)
  return scaled((value) => value, [from, Math.max(to, from + 1)], range, ticks)
}

function roundStep(value: number): number {
  const scale = 10 ** Math.floor(Math.log10(value))
  const step = [1, 2, 5, 10].find((one) => one * scale >= value) ?? 10
  return Math.max(1, step * scale)
}
