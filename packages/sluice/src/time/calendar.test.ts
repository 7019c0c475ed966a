import { describe, expect, it } from 'vitest'
import { isLong, lengthOf } from '../../../../test/length.ts'
import { isTimeZone, periodAt, WEEKDAYS, type Calendar } from './calendar.ts'

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo',
  'America/St_Johns',
  'America/Havana',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Africa/Cairo',
]
const HOUR = 3_600_000
const DAY = 24 * HOUR
const FROM = Date.UTC(2007, 0, 1)
const YEARS = 20
const LENGTH = YEARS * 366 * DAY

/** The local date and time of an instant as `2026-11-16, 09:30`, by the platform's own words. */
function localTimes(timeZone: string): (instant: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  return (instant) => format.format(instant)
}

/** The instants at which a zone first shows each date: found by looking at every minute around midnight. */
function firstInstants(timeZone: string): readonly (readonly [string, number])[] {
  const localTime = localTimes(timeZone)
  const dateOf = (instant: number): string => localTime(instant).slice(0, 10)
  /** Clocks that move on as time does show each date once, so that the first minute of one can be found by halves. */
  const isSteady = (from: number, to: number): boolean =>
    Date.parse(`${localTime(to).replace(', ', 'T')}Z`) -
      Date.parse(`${localTime(from).replace(', ', 'T')}Z`) ===
    to - from
  const found: (readonly [string, number])[] = []
  let latest = dateOf(FROM)
  let known = FROM
  for (let instant = FROM; instant < FROM + LENGTH; instant += 3 * HOUR) {
    const date = dateOf(instant)
    if (date <= latest) {
      known = instant
      continue
    }
    if (!isLong && isSteady(known - 3 * HOUR, instant)) {
      found.push([date, firstMinute(known, instant, (minute) => dateOf(minute) === date)])
      latest = date
      known = instant
      // No day of these zones is shorter.
      instant += 15 * HOUR
      continue
    }
    // The first minute with a later date, which may have been shown for a minute before clocks went back over midnight.
    for (let minute = known - 3 * HOUR; minute <= instant; minute += 60_000) {
      const shown = dateOf(minute)
      if (shown <= latest) continue
      latest = shown
      found.push([shown, minute])
    }
    known = instant
  }
  return found
}

/** The first minute after `before`, and at the latest `at`, from which on the condition holds. */
function firstMinute(before: number, at: number, holds: (instant: number) => boolean): number {
  let [low, high] = [before / 60_000, at / 60_000]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (holds(middle * 60_000)) high = middle
    else low = middle
  }
  return high * 60_000
}

/** The first date of the period that holds a date, by walking back day by day. */
function firstDate({ calendar, startsOn }: Calendar, date: string): string {
  let day = Date.parse(date)
  const isFirst = (): boolean => {
    if (calendar === 'day') return true
    const at = new Date(day)
    if (calendar === 'week') return WEEKDAYS[at.getUTCDay()] === startsOn
    const isLast = new Date(day + DAY).getUTCDate() === 1
    return at.getUTCDate() === startsOn || (isLast && at.getUTCDate() < Number(startsOn))
  }
  while (!isFirst()) day -= DAY
  return new Date(day).toISOString().slice(0, 10)
}

const calendars: readonly Omit<Calendar, 'timeZone'>[] = [
  { calendar: 'day' },
  { calendar: 'week', startsOn: 'monday' },
  { calendar: 'week', startsOn: 'saturday' },
  { calendar: 'month', startsOn: 1 },
  { calendar: 'month', startsOn: 15 },
  { calendar: 'month', startsOn: 31 },
]

describe.each(ZONES)('the calendar of %s over twenty years', (timeZone) => {
  const instants = firstInstants(timeZone)

  it('has about one day per date', () => {
    expect(instants.length).toBeGreaterThan(YEARS * 365 - 2)
  })

  it.each(calendars)('has periods as the dates say: %j', (parts) => {
    const calendar = { timeZone, ...parts }
    // A period begins where the first of its dates was first shown.
    const starts: number[] = []
    let period = ''
    for (const [date, instant] of instants) {
      const first = firstDate(calendar, date)
      if (first !== period) starts.push(instant)
      period = first
    }
    // The first may have begun before we looked.
    for (let i = 1; i + 1 < starts.length; i += lengthOf(calendar.calendar === 'day' ? 7 : 1, 1)) {
      const start = starts[i]!
      const end = starts[i + 1]!
      const expected = { start, end }
      for (const instant of [start, end - 1, Math.floor((start + end) / 2)])
        expect({ instant, ...periodAt(calendar, instant) }).toEqual({ instant, ...expected })
    }
  })
})

describe('periods', () => {
  it.each([
    ['2026-03-29', 'Europe/Berlin', 23],
    ['2026-10-25', 'Europe/Berlin', 25],
    ['2026-11-16', 'Europe/Berlin', 24],
    ['2011-12-30', 'Pacific/Apia', 24],
  ])('the day %s in %s has %i hours', (date, timeZone, hours) => {
    const { start, end } = periodAt({ calendar: 'day', timeZone }, Date.parse(`${date}T11:00:00Z`))
    expect((end - start) / HOUR).toBe(hours)
  })

  it('begin on the last day of a month that is too short', () => {
    const calendar = { calendar: 'month', timeZone: 'UTC', startsOn: 31 } as const
    const starts = ['2028-01-31', '2028-02-29', '2028-03-31', '2028-04-30', '2028-05-31']
    for (const [i, start] of starts.slice(0, -1).entries())
      expect(periodAt(calendar, Date.parse(start))).toEqual({
        start: Date.parse(start),
        end: Date.parse(starts[i + 1]!),
      })
  })

  it('are never negative, and exist near the epoch', () => {
    expect(periodAt({ calendar: 'month', timeZone: 'Asia/Tokyo', startsOn: 1 }, 0).start).toBe(0)
  })

  it.each([
    ['Europe/Berlin', true],
    ['UTC', true],
    ['Europe/Berln', false],
    ['', false],
    [7, false],
    [undefined, false],
  ])('%j is a time zone: %s', (name, is) => {
    expect(isTimeZone(name)).toBe(is)
  })
})
