// Numbers, times and algorithms as the page writes them.
import type { AlgorithmName } from 'sluice'
import type { Lane } from './compute.ts'

/** Such as `Token bucket`. */
export function algorithmName(name: AlgorithmName): string {
  if (name === 'gcra') return 'GCRA'
  const text = name.replaceAll('-', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** What an algorithm does, in a sentence. */
export const ALGORITHM_TEXT: Readonly<Partial<Record<AlgorithmName, string>>> = {
  'token-bucket': 'A bucket of tokens that fills at an even rate',
  gcra: 'The same bucket, kept as one instant',
  'leaky-bucket': 'A queue that drains evenly: requests wait',
  'fixed-window': 'A counter that starts again at each edge',
  'sliding-window': 'Two counters, weighted by time',
  'sliding-log': 'Every request is remembered for a window',
}

/** Such as 12,345. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}

/** A share of 0 to 1 as a percentage. */
export function percent(share: number): string {
  const value = share * 100
  if (value === 0 || value === 100) return `${value}%`
  return `${value.toFixed(value < 1 || value > 99 ? 2 : value < 10 ? 1 : 0)}%`
}

/** Milliseconds as `350 ms`, `12.5 s`, `3 min 20 s` or `2 h 5 min`. */
export function time(millis: number): string {
  if (millis < 1000) return `${Math.round(millis)} ms`
  if (millis < 100_000) return `${Number((millis / 1000).toFixed(millis < 10_000 ? 2 : 1))} s`
  const units: [number, string][] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1000, 's'],
  ]
  const [first] = units.filter(([size]) => millis >= size)
  const next = units[units.indexOf(first!) + 1]
  const whole = Math.floor(millis / first![0])
  const rest = next === undefined ? 0 : Math.floor((millis - whole * first![0]) / next[0])
  return rest === 0 ? `${whole} ${first![1]}` : `${whole} ${first![1]} ${rest} ${next![1]}`
}

/** What the lanes say together, in one sentence. */
export function verdict(lanes: readonly Lane[]): string {
  const [first] = lanes
  if (first === undefined) return 'Deciding…'
  if (lanes.every(({ refused }) => refused === 0))
    return `Every algorithm allows all ${count(first.requests)} requests: this traffic fits the limit.`
  const share = ({ refused, requests }: Lane): number => refused / Math.max(1, requests)
  const sorted = lanes.toSorted((a, b) => share(a) - share(b))
  const [mildest, strictest] = [sorted[0]!, sorted.at(-1)!]
  const peaks = lanes.toSorted((a, b) => b.peak - a.peak)
  const [highest, lowest] = [peaks[0]!, peaks.at(-1)!]
  const window = time(first.limit.window)
  const refusals =
    percent(share(mildest)) === percent(share(strictest))
      ? `All refuse ${percent(share(first))} of the requests`
      : `${algorithmName(strictest.algorithm)} refuses the most (${percent(share(strictest))}), ${algorithmName(mildest.algorithm)} the least (${percent(share(mildest))})`
  if (lanes.length === 1)
    return `${algorithmName(first.algorithm)} refuses ${percent(share(first))} and lets up to ${count(first.peak)} of one key through within ${window}.`
  return highest.peak === lowest.peak
    ? `${refusals}; each lets at most ${count(first.peak)} of one key through within ${window}.`
    : `${refusals}; within ${window} ${algorithmName(highest.algorithm)} lets up to ${count(highest.peak)} of one key through, ${algorithmName(lowest.algorithm)} up to ${count(lowest.peak)}.`
}
