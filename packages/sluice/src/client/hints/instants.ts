// Reads a wait from what servers write where they mean one: seconds, dates, instants, durations.
import type { Millis } from '../../time/clock.ts'
import { httpDate } from './http-date.ts'

/** A wait that is as good as for ever. */
const LONGEST: Millis = Number.MAX_SAFE_INTEGER
const NUMBER = /^\d+(?:\.\d+)?$/
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/
const ISO_8601 = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/
const UNITS: Readonly<Record<string, Millis>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** From here on a number is an instant, not a wait: 10^9 seconds are 31 years, and as an instant the year 2001. */
const EPOCH_SECONDS = 1e9
/** From here on an instant counts milliseconds: 10^12 seconds are the year 33658. */
const EPOCH_MILLIS = 1e12

/**
 * The wait that a reset field means, in whole milliseconds, rounded up; undefined when it means nothing.
 * Below 10^9 a number is seconds from now; below 10^12 an instant in seconds since the epoch; above, one in
 * milliseconds. Also read: durations such as `6m0s`, HTTP dates and ISO 8601. Instants are compared with `there`,
 * the present by the clock of the server that named them.
 */
export function waitUntilReset(text: string, there: Millis): Millis | undefined {
  const trimmed = text.trim()
  if (NUMBER.test(trimmed)) {
    const number = Number(trimmed)
    if (number >= EPOCH_MILLIS) return whole(number - there)
    return number >= EPOCH_SECONDS ? whole(number * 1000 - there) : whole(number * 1000)
  }
  if (trimmed.length <= 40 && DURATION.test(trimmed)) return whole(durationOf(trimmed))
  const date = ISO_8601.test(trimmed) ? Date.parse(trimmed) : httpDate(trimmed, there)
  return date === undefined || Number.isNaN(date) ? undefined : whole(date - there)
}

/** The wait that a Retry-After means: seconds, with a fraction if need be, or an HTTP date. */
export function waitUntilRetry(text: string, there: Millis): Millis | undefined {
  const trimmed = text.trim()
  // A proxy and the server behind it may both have said something: the longer wait holds for both.
  const parts = trimmed.split(',').map((part) => part.trim())
  if (parts.every((part) => NUMBER.test(part)))
    return whole(parts.reduce((longest, part) => Math.max(longest, Number(part)), 0) * 1000)
  const date = httpDate(trimmed, there)
  return date === undefined ? undefined : whole(date - there)
}

/** A wait in milliseconds, as some servers send it beside Retry-After. */
export function waitInMillis(text: string): Millis | undefined {
  const trimmed = text.trim()
  return NUMBER.test(trimmed) ? whole(Number(trimmed)) : undefined
}

function durationOf(text: string): Millis {
  let millis = 0
  for (const [, count, unit] of text.matchAll(/([\d.]+)(ms|s|m|h|d)/g))
    millis += Number(count) * UNITS[unit!]!
  return millis
}

/** What floating-point arithmetic adds to a whole number of milliseconds does not make it one more. */
function whole(millis: number): Millis {
  return Math.min(LONGEST, Math.max(0, Math.ceil(millis - 1e-6)))
}
