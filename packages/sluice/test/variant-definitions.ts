// What the variants of algorithms mean, said from the history of a count, as in definitions.ts: windows that begin with
// the first request, periods of a calendar by the dates that Intl shows, and segments of a log counted unit by unit.
import type { Limit } from '../src/limit/limit.ts'
import { definitions, type Definition, type Entry } from './definitions.ts'

const { 'fixed-window': fixed, 'sliding-log': log } = definitions

const sumOf = (history: readonly Entry[]): bigint =>
  history.reduce((sum, { units }) => sum + units, 0n)

/** The history without up to `cost` units, the newest first. */
function without(history: readonly Entry[], cost: bigint): readonly Entry[] {
  let left = cost
  const kept: Entry[] = []
  for (const entry of history.toReversed()) {
    const back = left < entry.units ? left : entry.units
    left -= back
    if (entry.units > back) kept.push({ at: entry.at, units: entry.units - back })
  }
  return kept.toReversed()
}

/** A history begins when the count was empty, so that its first entry begins the window. */
const firstWindow: Definition = {
  ...fixed,
  remembered: (_limit, at) => at,
  admits(limit, history, cost, t) {
    const start = history[0]?.at
    const counts = start !== undefined && t < start + limit.window ? sumOf(history) : 0n
    return counts + cost <= limit.quota
  },
  given: (_limit, history, cost, _t, takenAt) =>
    history[0] !== undefined && takenAt >= history[0].at ? without(history, cost) : history,
}

const DAY = 86_400_000

/** The first date of the period of an instant, as days since the epoch. */
function periodOf({ calendar, timeZone, startsOn }: Limit, at: bigint): number {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone: timeZone!,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).format(new Date(Number(at)))
  const [year, month, day] = parts.split('-').map(Number) as [number, number, number]
  const date = Date.UTC(year, month - 1, day) / DAY
  if (calendar === 'day') return date
  const weekdays = ['thursday', 'friday', 'saturday', 'sunday', 'monday', 'tuesday', 'wednesday']
  if (calendar === 'week') return date - ((date - weekdays.indexOf(startsOn as string) + 7) % 7)
  const startIn = (index: number): number => {
    const last = new Date(Date.UTC(year, index + 1, 0)).getUTCDate()
    return Date.UTC(year, index, Math.min(startsOn as number, last)) / DAY
  }
  return startIn(month - 1) <= date ? startIn(month - 1) : startIn(month - 2)
}

const calendarWindow = (made: Limit): Definition => ({
  ...fixed,
  remembered: (_limit, at) => at,
  admits(limit, history, cost, t) {
    const now = periodOf(made, t)
    return sumOf(history.filter(({ at }) => periodOf(made, at) === now)) + cost <= limit.quota
  },
  given(_limit, history, cost, t, takenAt) {
    const now = periodOf(made, t)
    if (periodOf(made, takenAt) !== now) return history
    return without(
      history.filter(({ at }) => periodOf(made, at) === now),
      cost,
    )
  },
})

/** Units count in segments of `grain` from the first on, each until one window after its newest unit. */
const stampedLog = (made: Limit): Definition => {
  const grain = BigInt(Math.ceil(made.quota / made.stamps!))
  return {
    ...log,
    admits(limit, history, cost, t) {
      let counts = 0n
      let inSegment = 0n
      for (const [i, { at, units }] of history.entries()) {
        let left = units
        while (left > 0n) {
          const part = left < grain - inSegment ? left : grain - inSegment
          inSegment += part
          left -= part
          const isLast = i === history.length - 1 && left === 0n
          if (inSegment < grain && !isLast) continue
          if (at > t - limit.window) counts += inSegment
          inSegment = 0n
        }
      }
      return counts + cost <= limit.quota
    },
    given: (_limit, history, cost) => without(history, cost),
  }
}

/** The definition of a limit, whichever variant of its algorithm it is. */
export function definitionFor(limit: Limit): Definition {
  if (limit.anchor !== undefined) return firstWindow
  if (limit.calendar !== undefined) return calendarWindow(limit)
  if (limit.stamps !== undefined) return stampedLog(limit)
  return definitions[limit.algorithm]
}
