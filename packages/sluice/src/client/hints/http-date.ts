// Reads HTTP dates in the three forms of RFC 9110 section 5.6.7.
import type { Millis } from '../../time/clock.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const TIME = '(\\d\\d):(\\d\\d):(\\d\\d)'
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const LONG_DAY = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)'
const IMF_FIXDATE = new RegExp(`^${DAY}, (\\d\\d) ([A-Z][a-z]{2}) (\\d{4}) ${TIME} GMT$`)
const RFC_850 = new RegExp(`^${LONG_DAY}, (\\d\\d)-([A-Z][a-z]{2})-(\\d\\d) ${TIME} GMT$`)
const ASCTIME = new RegExp(`^${DAY} ([A-Z][a-z]{2}) ([ \\d]\\d) ${TIME} (\\d{4})$`)

/** The instant of an HTTP date; undefined if the text is none. `now` resolves two-digit years. */
export function httpDate(text: string, now: Millis): Millis | undefined {
  const fixed = IMF_FIXDATE.exec(text)
  if (fixed) return instant(fixed[3]!, fixed[2]!, fixed[1]!, fixed.slice(4))
  const old = RFC_850.exec(text)
  if (old) return instant(fullYear(Number(old[3]), now), old[2]!, old[1]!, old.slice(4))
  const asctime = ASCTIME.exec(text)
  if (asctime) return instant(asctime[6]!, asctime[1]!, asctime[2]!, asctime.slice(3, 6))
  return undefined
}

/** A two-digit year more than 50 years ahead belongs to the past century. */
function fullYear(short: number, now: Millis): number {
  const present = new Date(now).getUTCFullYear()
  const year = present - (present % 100) + short
  return year > present + 50 ? year - 100 : year
}

function instant(
  year: number | string,
  monthName: string,
  day: string,
  time: readonly string[],
): Millis | undefined {
  const month = MONTHS.indexOf(monthName)
  const [hour = 0, minute = 0, second = 0] = time.map(Number)
  // 60 is valid: a leap second.
  if (month < 0 || hour > 23 || minute > 59 || second > 60) return undefined
  const midnight = Date.UTC(Number(year), month, Number(day))
  // Date.UTC rolls a day that the month does not have over into the next month.
  if (new Date(midnight).getUTCDate() !== Number(day)) return undefined
  return midnight + ((hour * 60 + minute) * 60 + second) * 1000
}
