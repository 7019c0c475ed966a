// Units of time as Envoy names and numbers them.
import type { Millis } from 'sluice'

/** A unit: its name in files, its number on the wire, its length. */
export interface Unit {
  readonly name: string
  readonly number: number
  readonly window: Millis
}

const SECOND = 1000
const DAY = 86_400 * SECOND

/** All units, from the shortest to the longest. A month has 30 days and a year 365, as in Envoy's own service. */
export const UNITS: readonly Unit[] = [
  { name: 'second', number: 1, window: SECOND },
  { name: 'minute', number: 2, window: 60 * SECOND },
  { name: 'hour', number: 3, window: 3600 * SECOND },
  { name: 'day', number: 4, window: DAY },
  { name: 'week', number: 7, window: 7 * DAY },
  { name: 'month', number: 5, window: 30 * DAY },
  { name: 'year', number: 6, window: 365 * DAY },
]

const byName = new Map(UNITS.map((unit) => [unit.name, unit]))
const byNumber = new Map(UNITS.map((unit) => [unit.number, unit]))

/** The unit of a name in any case, as files write it. */
export function unitNamed(name: string): Unit | undefined {
  return byName.get(name.toLowerCase())
}

/** The unit of a number of the protocol. */
export function unitNumbered(number: number): Unit | undefined {
  return byNumber.get(number)
}

/**
 * A rate in a unit of the protocol that is never higher than the true one: `quota` per `window` as whole requests of
 * the longest unit within the window, or of a longer one when that would be less than one request.
 */
export function rateInUnits(quota: number, window: Millis): { requests: number; unit: Unit } {
  const within = Math.max(
    0,
    UNITS.findLastIndex((unit) => unit.window <= window),
  )
  if (quota === 0) return { requests: 0, unit: UNITS[within]! }
  for (const unit of UNITS.slice(within)) {
    const requests = Math.floor(quota * (unit.window / window))
    if (requests >= 1) return { requests, unit }
  }
  return { requests: 0, unit: UNITS.at(-1)! }
}
