// Reads waits in the forms that servers use: seconds, dates, instants, durations.
import type { Millis } from '../../time/clock.ts'
import { httpDate } from './http-date.ts'

/** The longest wait that is represented. */
const MAX_WAIT_MS: Millis = Number.MAX_SAFE_INTEGER
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

/** A number from here on is an instant, not a wait: 10^9 seconds are 31 years; as an instant, the year 2001. */
const EPOCH_SECONDS = 1e9
/** An instant from here on is in milliseconds: 10^12 seconds would be the year 33658. */
const EPOCH_MILLIS = 1e12

/**
 * The wait of a reset field in whole milliseconds, rounded up; undefined if it cannot be read. A number below 10^9
 * is seconds from now, below 10^12 an instant in seconds since the epoch, above that an instant in milliseconds.
 * Durations such as `6m0s`, HTTP dates and ISO 8601 are read too. `serverNow` is the present instant by the
 * server's clock.
 */
export function waitUntilReset(text: string, serverNow: Millis): Millis | undefined {
  const trimmed = text.trim()
  if (NUMBER.test(trimmed)) {
    const number = Number(trimmed)
    if (number >= EPOCH_MILLIS) return whole(number - serverNow)
    return number >= EPOCH_SECONDS ? whole(number * 1000 - serverNow) : whole(number * 1000)
  }
  if (trimmed.length <= 40 && DURATION.test(trimmed)) return whole(durationOf(trimmed))
  const date = ISO_8601.test(trimmed) ? Date.parse(trimmed) : httpDate(trimmed, serverNow)
  return date === undefined || Number.isNaN(date) ? undefined : whole(date - serverNow)
}

/** The wait of a Retry-After field: seconds, also with a fraction, or an HTTP date. */
export function waitUntilRetry(text: string, serverNow: Millis): Millis | undefined {
  const trimmed = text.trim()
  // A proxy and the server behind it may both send the field: the longer wait satisfies both.
  const parts = trimmed.split(',').map((part) => part.trim())
  if (parts.every((part) => NUMBER.test(part)))
    return whole(parts.reduce((longest, part) => Math.max(longest, Number(part)), 0) * 1000)
  const date = httpDate(trimmed, serverNow)
  return date === undefined ? undefined : whole(date - serverNow)
}

/** The wait of a field in milliseconds, which some servers send besides Retry-After. */
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

/** Rounds up, but not because of a floating-point error. */
function whole(millis: number): Millis {
  return Math.min(MAX_WAIT_MS, Math.max(0, Math.ceil(millis - 1e-6)))
}
