// Numbers, spans and keys as people read them.
import type { Attributes, ConditionalRule, Limit } from './types.ts'

const plain = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** 1,234 or 12.3k. */
export function count(value: number): string {
  return Math.abs(value) < 10_000 ? plain.format(value) : compact.format(value).toLowerCase()
}

/** A share as per cent, with as many digits as it needs. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '0 %'
  const value = (part / whole) * 100
  if (value === 0) return '0 %'
  if (value < 0.1) return '< 0.1 %'
  return `${value.toFixed(value < 10 ? 1 : 0)} %`
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
]

/** A span of milliseconds in at most two units. */
export function span(millis: number): string {
  if (millis < 1) return millis <= 0 ? '0 s' : `${Math.round(millis * 1000)} µs`
  if (millis < 1000) return `${plain.format(millis)} ms`
  const parts: string[] = []
  let left = millis
  for (const [size, unit] of UNITS) {
    const whole = unit === 's' ? Math.ceil(left / size) : Math.floor(left / size)
    if (whole > 0 && parts.length < 2) parts.push(`${whole} ${unit}`)
    left -= Math.min(left, whole * size)
  }
  return parts.join(' ')
}

/** The time of day. */
export function clock(millis: number): string {
  return new Date(millis).toLocaleTimeString('en-GB')
}

/** A day and a time, such as `17 Nov, 23:40:12`. */
export function dateTime(at: string | number): string {
  const date = new Date(at)
  const day = date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
  return `${day}, ${date.toLocaleTimeString('en-GB')}`
}

/** The text with every instant as the reader's clock shows it. */
export function localTimes(text: string): string {
  const today = new Date().toDateString()
  return text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (instant) =>
    new Date(instant).toDateString() === today ? clock(Date.parse(instant)) : dateTime(instant),
  )
}

/** The lines that describe one rule, of the text that describes its policy. */
export function ruleWords(text: string, rule: string): readonly string[] {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => line.startsWith(`  ${rule} `))
  if (start < 0) return []
  const end = lines.findIndex((line, i) => i > start && !line.startsWith('    '))
  return lines
    .slice(start, end < 0 ? undefined : end)
    .map((line) => line.trim())
    .map((line, i) => (i === 0 ? line.slice(rule.length).trim() : line))
}

/** A limit in words: `100 per 1 min, at most 20 at once`. */
export function limitWords({ quota, window, burst, algorithm, slots }: Limit): string {
  if (slots === true) return `${count(quota)} at once, each for ${span(window)} unless renewed`
  const most = burst === quota ? '' : `, at most ${count(burst)} at once`
  return `${count(quota)} per ${span(window)}${most} (${algorithm.replaceAll('-', ' ')})`
}

/** The other attributes that a rule depends on: `route /login`, `any key`. */
export function needWords(needs: ConditionalRule['needs']): string {
  return Object.entries(needs)
    .map(([name, values]) =>
      values.length === 0
        ? `any ${shown(name, 30)}`
        : `${shown(name, 30)} ${values.map((value) => shown(value)).join(' or ')}`,
    )
    .join(' and ')
}

/** Characters that change the direction or the line of what stands around them are shown, not obeyed. */
// oxlint-disable-next-line no-control-regex -- these are what must be shown
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/** A string that clients chose, cut and made harmless. */
export function shown(text: string, longest = 80): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text
  return cut.replaceAll(INVISIBLE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A key as the attributes that make it. */
export function keyWords(attributes: Attributes): string {
  const pairs = Object.entries(attributes)
  if (pairs.length === 0) return 'all requests together'
  return pairs.map(([name, value]) => `${shown(name, 30)} ${shown(value)}`).join(' · ')
}
