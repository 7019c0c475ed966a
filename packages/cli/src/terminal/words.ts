// Numbers, limits and instants in words, for the sentence, the screen and the report.
import type { Limit, Millis } from 'sluice'

/** Such as 10,000. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}

/** Such as `1 client`, `1,753 clients`. */
export function countOf(value: number, what: string): string {
  return `${count(value)} ${what}${value === 1 ? '' : what.endsWith('s') ? 'es' : 's'}`
}

/** A share of 0 to 1 as a percentage; small ones keep a digit that matters, and only 0 is 0%. */
export function percent(share: number): string {
  const value = share * 100
  if (value === 0 || value === 100) return `${value}%`
  if (value < 0.01) return '<0.01%'
  if (value > 99.99) return '>99.99%'
  return `${value.toFixed(value < 1 ? 2 : 1)}%`
}

const UNITS = [
  [604_800_000, 'week'],
  [86_400_000, 'day'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
  [1, 'ms'],
] as const

/** A duration as the period of a rate: 60000 is `min`, 10000 is `10s`. */
export function period(window: Millis): string {
  const [size, unit] = UNITS.find(([size]) => window % size === 0) ?? [1, 'ms']
  const short = unit === 'week' ? 'w' : unit === 'day' ? 'd' : unit
  return window === size ? unit : `${window / size}${short}`
}

/** A limit as people write it: `100/min`, with its burst where that is another number. */
export function rateOf({ quota, window, burst }: Limit): string {
  const rate = `${quota}/${period(window)}`
  return burst === quota ? rate : `${rate} burst ${burst}`
}

/** An algorithm in words: `token bucket`. */
export function algorithmName(algorithm: string): string {
  return algorithm.replaceAll('-', ' ')
}

/** A duration with its two largest units: `3 days 2 h`, `45 s`. */
export function span(millis: Millis): string {
  if (millis < 1000) return `${Math.round(millis)} ms`
  const parts: string[] = []
  let rest = Math.round(millis / 1000) * 1000
  for (const [size, unit] of UNITS.slice(1, 5)) {
    const amount = Math.floor(rest / size)
    rest -= amount * size
    if (amount > 0) parts.push(`${amount} ${unit === 'day' && amount > 1 ? 'days' : unit}`)
    else if (parts.length > 0) break
    if (parts.length === 2) break
  }
  return parts.join(' ')
}

/** An instant in UTC: `2015-05-17 10:05:03`. */
export function instant(at: Millis): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ')
}

/** Text in lines of at most so many columns. */
export function wrapped(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
