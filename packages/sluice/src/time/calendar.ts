// Calendar periods in a time zone: when the day, week or month of an instant begins and ends.
import type { Millis } from './clock.ts'

/** The periods of a calendar. */
export const CALENDAR_UNITS = ['day', 'week', 'month'] as const

/**
 * A period of the calendar.
 *
 * @example
 * ```ts
 * limit({ quota: 10_000, calendar: 'month', timeZone: 'Europe/Berlin' })
 * ```
 */
export type CalendarUnit = (typeof CALENDAR_UNITS)[number]

/** The days on which a week may begin, in the order of `Date.getUTCDay`. */
export const WEEKDAYS = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
] as const

/**
 * A day on which a week may begin.
 *
 * @example
 * ```ts
 * limit({ quota: 500, calendar: 'week', startsOn: 'monday' })
 * ```
 */
export type Weekday = (typeof WEEKDAYS)[number]

/** Which periods: their length, the zone whose clocks count, and the day on which they begin. */
export interface Calendar {
  readonly calendar: CalendarUnit
  /** An IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string
  /** For weeks a weekday. For months a day from 1 to 31; in a shorter month, its last day. */
  readonly startsOn?: Weekday | number
}

/** A half-open span of time. */
export interface Period {
  readonly start: Millis
  readonly end: Millis
}

const HOUR: Millis = 3_600_000
const DAY: Millis = 24 * HOUR
/** Zones and periods that are remembered at most. */
const MAX_KNOWN = 200

/** The longest that a period is in whole days, in milliseconds. */
export const CALENDAR_LENGTHS: Readonly<Record<CalendarUnit, Millis>> = {
  day: DAY,
  week: 7 * DAY,
  month: 31 * DAY,
}

const periods = new Map<string, Period>()

/**
 * The period of an instant. It begins at the first instant whose local date is the period's first date or a later one:
 * at midnight, or after it where clocks skip midnight.
 */
export function periodAt(calendar: Calendar, now: Millis): Period {
  const name = `${calendar.calendar} ${calendar.startsOn} ${calendar.timeZone}`
  const known = periods.get(name)
  if (known !== undefined && known.start <= now && now < known.end) return known
  const found = findPeriod(calendar, now)
  if (periods.size >= MAX_KNOWN) periods.clear()
  periods.set(name, found)
  return found
}

function findPeriod(calendar: Calendar, now: Millis): Period {
  const offsetAt = offsetsOf(calendar.timeZone)
  const today = now + offsetAt(now)
  let date = firstDate(calendar, today - modulo(today, DAY))
  let start = beginningOf(date, offsetAt)
  for (;;) {
    date = nextDate(calendar, date)
    const end = beginningOf(date, offsetAt)
    // A local date may come back when clocks are set back over midnight; its period began the first time.
    if (now < end) return { start: Math.max(0, start), end }
    start = end
  }
}

// Dates are instants at midnight UTC: plain numbers of days, in no zone.

/** The first date of the period that holds a date. */
function firstDate(calendar: Calendar, date: Millis): Millis {
  const { calendar: unit, startsOn } = calendar
  if (unit === 'day') return date
  const day = new Date(date)
  if (unit === 'week') {
    const first = WEEKDAYS.indexOf((startsOn ?? 'monday') as Weekday)
    return date - modulo(day.getUTCDay() - first, 7) * DAY
  }
  const here = monthStart(day.getUTCFullYear(), day.getUTCMonth(), startsOn)
  return here <= date ? here : monthStart(day.getUTCFullYear(), day.getUTCMonth() - 1, startsOn)
}

/** The first date of the period after the one that begins on a date. */
function nextDate({ calendar: unit, startsOn }: Calendar, date: Millis): Millis {
  if (unit === 'day') return date + DAY
  if (unit === 'week') return date + 7 * DAY
  const day = new Date(date)
  return monthStart(day.getUTCFullYear(), day.getUTCMonth() + 1, startsOn)
}

/** The date in a month on which periods begin. */
function monthStart(year: number, month: number, startsOn: Calendar['startsOn'] = 1): Millis {
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return Date.UTC(year, month, Math.min(startsOn as number, lastDay))
}

/** The first instant whose local date is this one or a later one. */
function beginningOf(date: Millis, offsetAt: (instant: Millis) => Millis): Millis {
  // No zone is further from UTC than this.
  let low = date - 16 * HOUR
  let high = date + 16 * HOUR
  const before = offsetAt(low)
  const after = offsetAt(high)
  if (before === after) return date - before
  // Clocks change in between: find out when.
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle) === before) low = middle
    else high = middle
  }
  if (date - before < high) return date - before
  return Math.max(high, date - after)
}

const offsets = new Map<string, (instant: Millis) => Millis>()

/** What the clocks of a zone show more than UTC, in milliseconds. */
function offsetsOf(timeZone: string): (instant: Millis) => Millis {
  let offsetAt = offsets.get(timeZone)
  if (offsetAt === undefined) {
    const fields = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
    const numeric = Object.fromEntries(fields.map((field) => [field, 'numeric' as const]))
    const format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...numeric })
    offsetAt = (instant) => {
      const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, value]))
      const [year, month, day, ...time] = fields.map((field) => Number(parts.get(field)))
      const [hour, minute, second] = time
      const local = Date.UTC(year!, month! - 1, day!, hour, minute, second)
      return local - (instant - modulo(instant, 1000))
    }
    if (offsets.size >= MAX_KNOWN) offsets.clear()
    offsets.set(timeZone, offsetAt)
  }
  return offsetAt
}

/** Whether a name is one of a time zone that this platform knows. */
export function isTimeZone(name: unknown): name is string {
  if (typeof name !== 'string' || name === '') return false
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** The remainder that is never negative. */
function modulo(a: number, b: number): number {
  return ((a % b) + b) % b
}
