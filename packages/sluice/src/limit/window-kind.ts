// The fields of a limit that say which windows it counts in: anchored at the first request, or of the calendar.
import type { LimitNumbers } from '../algorithms/algorithm.ts'
import type { AlgorithmName } from '../algorithms/table.ts'
import {
  CALENDAR_LENGTHS,
  CALENDAR_UNITS,
  isTimeZone,
  WEEKDAYS,
  type CalendarUnit,
  type Weekday,
} from '../time/calendar.ts'
import type { Millis } from '../time/clock.ts'
import { tryDuration } from '../time/duration.ts'

/** The fields read here. */
type WindowField = 'window' | 'algorithm' | 'anchor' | 'calendar' | 'timeZone' | 'startsOn'

/** Reports a mistake in a field. */
type Wrong = (field: WindowField, message: string) => void

type Fields = Readonly<Record<string, unknown>>

/** What the fields say: the window in milliseconds, if it is one, and the fields of the variant. */
export interface WindowKind extends Pick<
  LimitNumbers,
  'anchor' | 'calendar' | 'timeZone' | 'startsOn'
> {
  readonly window: Millis | undefined
  /** The algorithm when none is named. */
  readonly algorithm: AlgorithmName
}

/** The day on which periods begin by default. */
const FIRST_DAYS: Readonly<Record<CalendarUnit, Weekday | number | undefined>> = {
  day: undefined,
  week: 'monday',
  month: 1,
}

/** Reads the fields. `window: 'day'` is 24 hours, unless a time zone makes it a day of the calendar. */
export function readWindowKind(fields: Fields, wrong: Wrong): WindowKind {
  const { window, anchor, timeZone, startsOn, calendar } = fields
  const isCalendar = [calendar, timeZone, startsOn].some((field) => field !== undefined)
  if (isCalendar || window === 'month') return readCalendar(fields, wrong)
  const plain = { window: tryDuration(window), algorithm: 'token-bucket' as const }
  if (anchor === undefined) return plain
  if (anchor !== 'first')
    wrong('anchor', "; accepted: 'first' (windows that begin with the first request), or no anchor")
  requireFixed(fields, 'an anchor', wrong)
  return { ...plain, algorithm: 'fixed-window', anchor: 'first' }
}

function readCalendar(fields: Fields, wrong: Wrong): WindowKind {
  const { window, anchor, timeZone = 'UTC', startsOn } = fields
  const unit = (fields['calendar'] ?? window) as CalendarUnit
  const known = CALENDAR_UNITS.includes(unit)
  if (fields['calendar'] === undefined && !known)
    wrong('window', ` with a time zone; accepted: ${CALENDAR_UNITS.join(', ')}`)
  else if (!known) wrong('calendar', `; accepted: ${CALENDAR_UNITS.join(', ')}`)
  else if (![undefined, unit, CALENDAR_LENGTHS[unit]].includes(window as Millis))
    wrong('window', ` with calendar ${unit}; accepted: no window, since the calendar says it`)
  if (!isTimeZone(timeZone))
    wrong('timeZone', "; accepted: the IANA name of a time zone, such as 'Europe/Berlin' or 'UTC'")
  if (anchor !== undefined)
    wrong(
      'anchor',
      ' with a calendar; accepted: no anchor, since the calendar says when periods begin',
    )
  requireFixed(fields, 'a calendar', wrong)
  const first = readStart(unit, startsOn, wrong)
  return {
    window: known ? CALENDAR_LENGTHS[unit] : undefined,
    algorithm: 'fixed-window',
    calendar: unit,
    timeZone: timeZone as string,
    ...(first === undefined ? {} : { startsOn: first }),
  }
}

function readStart(
  unit: CalendarUnit,
  startsOn: unknown,
  wrong: Wrong,
): Weekday | number | undefined {
  if (startsOn === undefined) return FIRST_DAYS[unit]
  if (unit === 'day')
    wrong('startsOn', ' with days; accepted: nothing, since days begin at midnight')
  else if (unit === 'week' && !WEEKDAYS.includes(startsOn as Weekday))
    wrong('startsOn', `; accepted: ${WEEKDAYS.join(', ')}`)
  else if (unit === 'month' && !isDay(startsOn))
    wrong('startsOn', '; accepted: a day from 1 to 31; in a shorter month its last day')
  return startsOn as Weekday | number
}

function isDay(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 31
}

function requireFixed({ algorithm }: Fields, what: string, wrong: Wrong): void {
  if (algorithm !== undefined && algorithm !== 'fixed-window')
    wrong('algorithm', ` with ${what}; accepted: fixed-window, or none named`)
}
