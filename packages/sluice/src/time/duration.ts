// Durations as people write them ('10s', '1h', 'min') and as the library counts them (milliseconds).
import { show, SluiceError } from '../errors.ts'
import type { Millis } from './clock.ts'

/** A unit that is a word, with its plural. */
type UnitWord = 'second' | 'minute' | 'hour' | 'day' | 'week'

/** The unit of a duration: milliseconds, seconds, minutes, hours, days, weeks. */
export type DurationUnit =
  | 'ms'
  | 's'
  | 'sec'
  | 'm'
  | 'min'
  | 'h'
  | 'd'
  | 'w'
  | UnitWord
  | `${UnitWord}s`

/**
 * A duration as text: a whole number and a unit, such as `10s` or `1h`; a bare unit means one.
 *
 * @example
 * ```ts
 * const window: DurationText = '15min'
 * ```
 */
export type DurationText = DurationUnit | `${number}${DurationUnit}`

/**
 * A duration as text, or in whole milliseconds.
 *
 * @example
 * ```ts
 * const windows: Duration[] = ['10s', '15min', 2500]
 * ```
 */
export type Duration = DurationText | Millis

const UNITS: ReadonlyMap<string, Millis> = new Map([
  ['ms', 1],
  ...unitNames(1000, 's', 'sec', 'second', 'seconds'),
  ...unitNames(60_000, 'm', 'min', 'minute', 'minutes'),
  ...unitNames(3_600_000, 'h', 'hour', 'hours'),
  ...unitNames(86_400_000, 'd', 'day', 'days'),
  ...unitNames(604_800_000, 'w', 'week', 'weeks'),
])

function unitNames(millis: Millis, ...names: string[]): [string, Millis][] {
  return names.map((name) => [name, millis])
}

/** Every unit that may stand in a duration. */
export const DURATION_UNITS: readonly string[] = [...UNITS.keys()]

/** What a duration may look like, for error messages. */
export const DURATION_FORMS: string =
  "whole milliseconds above 0, or a number and a unit such as '500ms', '10s', '1min' " +
  '(units: ms, s, sec, second, m, min, minute, h, hour, d, day, w, week, or their plurals)'

/** The duration in milliseconds, or undefined when it is not one. */
export function tryDuration(value: unknown): Millis | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 0 ? value : undefined
  if (typeof value !== 'string') return undefined
  const match = /^(\d{0,16})([a-z]+)$/.exec(value.trim())
  const unit = match && UNITS.get(match[2] as string)
  if (unit === null || unit === undefined) return undefined
  const count = match?.[1] === '' ? 1 : Number(match?.[1])
  const millis = count * unit
  return Number.isSafeInteger(millis) && millis > 0 ? millis : undefined
}

/**
 * The duration in milliseconds; throws `invalid-duration` for anything else.
 *
 * @example
 * ```ts
 * duration('15min') // 900000
 * ```
 */
export function duration(value: Duration): Millis {
  const millis = tryDuration(value)
  if (millis === undefined) {
    throw new SluiceError(
      'invalid-duration',
      `duration is ${show(value)}; accepted: ${DURATION_FORMS}`,
    )
  }
  return millis
}

const NAMES: readonly (readonly [Millis, string, string])[] = [
  [604_800_000, 'w', 'week'],
  [86_400_000, 'd', 'day'],
  [3_600_000, 'h', 'h'],
  [60_000, 'min', 'min'],
  [1000, 's', 's'],
  [1, 'ms', 'ms'],
]

/** The shortest exact text of a duration: 60000 is `1min`, 90000 is `90s`. */
export function durationText(millis: Millis): string {
  const [size, unit] = NAMES.find(([size]) => millis >= size && millis % size === 0) ?? [1, 'ms']
  return `${millis / size}${unit}`
}

/** A duration as the period of a rate: 60000 is `min`, 10000 is `10s`. */
export function periodText(millis: Millis): string {
  const named = NAMES.find(([size]) => size === millis)
  return named ? named[2] : durationText(millis)
}
