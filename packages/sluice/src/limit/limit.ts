// Limits as plain data, and the function that makes them from what users write.
import type { LimitNumbers } from '../algorithms/algorithm.ts'
import { algorithmOf, ALGORITHMS, type AlgorithmName } from '../algorithms/table.ts'
import { show, SluiceError } from '../errors.ts'
import { acceptedNames, unknownName } from '../options/suggest.ts'
import type { Millis } from '../time/clock.ts'
import type { CalendarUnit, Weekday } from '../time/calendar.ts'
import { DURATION_FORMS, durationText, periodText, type Duration } from '../time/duration.ts'
import { readWindowKind } from './window-kind.ts'

export { ALGORITHMS, type AlgorithmName }

/**
 * How many units within how long, by which algorithm. Plain data, always valid: made by {@link limit}.
 *
 * @example
 * ```ts
 * const { quota, window, burst }: Limit = limit('100/min') // 100, 60_000, 100
 * ```
 */
export interface Limit extends LimitNumbers {
  readonly algorithm: AlgorithmName
  /** Units per window; 0 refuses every cost above 0. */
  readonly quota: number
  readonly window: Millis
  /** Most units at once. Equals the quota, except for the three buckets. */
  readonly burst: number
  /** Slots, which are no rate: at most `quota` requests at once. `window` is how long a slot lives unless it is renewed. */
  readonly slots?: true
}

/**
 * A rate as a string: `100/min`, `5/10s`, `1000/1h`. Any string compiles, so that a rate may come from a file;
 * {@link limit} checks it. Editors suggest the literals.
 *
 * @example
 * ```ts
 * const rate: RateText = process.env['API_RATE'] ?? '100/min'
 * ```
 */
export type RateText =
  | '10/s'
  | '100/s'
  | '10/min'
  | '100/min'
  | '1000/min'
  | '1000/h'
  | '10000/day'
  // An intersection, because a mere `string` would absorb the literals.
  | (string & Record<never, never>)

/**
 * What a limit is made from: a rate as a string, or its parts. The default algorithm is the token bucket.
 *
 * @example
 * ```ts
 * const inputs: LimitInput[] = ['100/min', { quota: 100, window: '1min', burst: 20 }]
 * ```
 */
export type LimitInput = RateText | LimitFields | Limit

/**
 * The parts of a limit, each checked by {@link limit}.
 *
 * @example
 * ```ts
 * const fields: LimitFields = { quota: 100, window: '1min', burst: 20 }
 * ```
 */
export interface LimitFields {
  readonly quota: number
  /**
   * A duration, or `'month'`. With a time zone, `'day'`, `'week'` and `'month'` are those of the calendar. Not needed
   * beside `calendar`.
   */
  readonly window?: Duration | 'month'
  readonly algorithm?: AlgorithmName
  readonly burst?: number
  /** `'first'`: windows begin with the first request instead of at multiples of the window. For fixed windows. */
  readonly anchor?: 'first'
  /** Windows are the days, weeks or months of a time zone. For fixed windows. */
  readonly calendar?: CalendarUnit
  /** The IANA name of a time zone. Default for calendars: `UTC`. */
  readonly timeZone?: string
  /** The first day of a week (default `monday`) or month (default 1; in a shorter month than it says, the last day). */
  readonly startsOn?: Weekday | number
  /** How many instants a sliding log keeps at most, 1 to 1000: constant memory, for quotas of any size. */
  readonly stamps?: number
}

/**
 * What a rate as a string may be combined with.
 *
 * @example
 * ```ts
 * limit('100/min', { algorithm: 'sliding-window' })
 * ```
 */
export interface LimitOptions extends Omit<LimitFields, 'quota' | 'window'> {}

/** The most that quota or burst times window may be: twice as much is still an exact number. */
const MAX_PRODUCT = 2 ** 52

/** The most stamps: each is stored with the count. */
export const MAX_STAMPS = 1000

/** What a rate may look like, for error messages. */
export const RATE_FORMS = "a string such as '100/min', '5/10s', '1000/1h'"

/** A problem with one field of a limit. */
export interface LimitProblem {
  /** The field, or '' for the limit as a whole. */
  readonly field: '' | keyof Limit
  readonly value: unknown
  /** Begins with the field. */
  readonly message: string
}

/**
 * `limit('100/min', { burst: 200 })`: the limit as data. Throws `invalid-limit` naming every mistake.
 *
 * @example
 * ```ts
 * const sixty = limit('60/min', { burst: 10, algorithm: 'gcra' })
 * ```
 */
export function limit(input: LimitInput, options: LimitOptions = {}): Limit {
  const problems: LimitProblem[] = []
  const fields = { ...fieldsOf(input), ...options }
  // Slots are made of the `concurrency` of a rule; they are not written by hand.
  const isSlots = (fields as Partial<Limit>).slots === true
  if (isSlots) delete (fields as { slots?: true }).slots
  const made = readLimit(fields, problems)
  if (made === undefined) {
    const list = problems.map((problem) => problem.message).join('; ')
    throw new SluiceError('invalid-limit', `limit ${show(input)}: ${list}`, {
      problems: problems.map(({ field, value, message }) => ({ path: field, value, message })),
    })
  }
  return isSlots ? { ...made, slots: true } : made
}

/** The fields of what people write; `rate` holds what has none. */
function fieldsOf(input: unknown): Readonly<Record<string, unknown>> {
  if (typeof input === 'string') return rateFields(input)
  const isTable = typeof input === 'object' && input !== null && !Array.isArray(input)
  return isTable ? (input as Record<string, unknown>) : { rate: input }
}

const WHOLE_TEXT = /^\d+(?:_\d+)*$/

/** The quota and window of a rate as text; the text itself under `rate` when it cannot be read. */
export function rateFields(text: string): Record<string, unknown> {
  const match = /^\s*(-?[\d._]+)\s*\/\s*(\w+)\s*$/.exec(text)
  if (match === null) return { rate: text }
  const quota = match[1] as string
  // What is not a whole number stays text, so that the message shows it as it was written.
  return {
    quota: WHOLE_TEXT.test(quota) ? Number(quota.replaceAll('_', '')) : quota,
    window: match[2],
  }
}

/** What a limit may say, in the order in which it is documented. */
export const LIMIT_FIELDS: readonly (keyof Limit)[] = [
  'quota',
  'window',
  'algorithm',
  'burst',
  'anchor',
  'calendar',
  'timeZone',
  'startsOn',
  'stamps',
]

/** The limit that the fields describe, or undefined with every mistake pushed to `problems`. */
export function readLimit(
  fields: Readonly<Record<string, unknown>>,
  problems: LimitProblem[],
): Limit | undefined {
  const before = problems.length
  const wrong = (field: LimitProblem['field'], message: string): void => {
    const value = field === '' ? fields['rate'] : fields[field]
    const found = value === undefined ? 'missing' : show(value)
    problems.push({
      field,
      value,
      message: field === '' ? message : `${field} is ${found}${message}`,
    })
  }
  if (Object.hasOwn(fields, 'rate')) {
    wrong('', rateMistake(fields['rate']))
    return undefined
  }
  for (const name of Object.keys(fields)) {
    if (!(LIMIT_FIELDS as readonly string[]).includes(name)) {
      wrong('', unknownName('field', name, LIMIT_FIELDS))
    }
  }

  const { quota } = fields
  const { window, algorithm: usual, ...kind } = readWindowKind(fields, wrong)
  const variant = { ...kind, ...readStamps(fields, wrong) }
  const algorithm = (fields['algorithm'] ?? usual) as AlgorithmName
  const burst = fields['burst'] === undefined ? quota : fields['burst']
  if (!isWhole(quota)) wrong('quota', '; accepted: a whole number of units, 0 or more')
  if (window === undefined && variant.calendar === undefined)
    wrong('window', `; accepted: ${DURATION_FORMS}`)
  if (fields['algorithm'] === null || !ALGORITHMS.includes(algorithm)) {
    wrong('algorithm', `; ${acceptedNames(fields['algorithm'], ALGORITHMS)}`)
  }
  if (fields['burst'] !== undefined && !(isWhole(burst) && (burst >= 1 || quota === 0))) {
    wrong('burst', '; accepted: a whole number of units, 1 or more')
  }
  if (problems.length > before || !isWhole(quota) || !isWhole(burst) || window === undefined) {
    return undefined
  }

  const { hasBurst, maxQuota } = algorithmOf({ algorithm, ...variant })
  if (quota === 0 && burst !== 0) {
    wrong('burst', ' with quota 0; accepted: no burst, since nothing is ever allowed')
  } else if (!hasBurst && burst !== quota) {
    wrong(
      'burst',
      ` with ${algorithm}; accepted: no burst (a window admits its quota at once), or another algorithm`,
    )
  }
  if (quota > maxQuota) {
    wrong(
      'quota',
      ` with ${algorithm}, whose state grows with it; accepted: at most ${maxQuota}, or stamps`,
    )
  }
  if (Math.max(quota, burst) * window > MAX_PRODUCT) {
    wrong(
      burst > quota ? 'burst' : 'quota',
      `, which times a window of ${window} ms is above 2^52, where numbers stop being exact; accepted: a shorter window or fewer units`,
    )
  }
  if (problems.length > before) return undefined
  // Adding 0 turns -0, which the checks let through, into 0.
  return { algorithm, quota: quota + 0, window, burst: burst + 0, ...variant }
}

/** The stamps of a sliding log, which alone may have them. */
function readStamps(
  { algorithm, stamps }: Readonly<Record<string, unknown>>,
  wrong: (field: 'stamps' | 'algorithm', message: string) => void,
): Pick<Limit, 'stamps'> {
  if (stamps === undefined) return {}
  if (!isWhole(stamps) || stamps < 1 || stamps > MAX_STAMPS)
    wrong('stamps', `; accepted: a whole number from 1 to ${MAX_STAMPS}`)
  if (algorithm !== 'sliding-log')
    wrong('algorithm', " with stamps; accepted: 'sliding-log', the algorithm that keeps instants")
  return { stamps: stamps as number }
}

function rateMistake(rate: unknown): string {
  if (typeof rate === 'string') return `rate is ${show(rate)}; accepted: ${RATE_FORMS}`
  return isWhole(rate)
    ? `a number has no window; write '${rate}/min', or { quota: ${rate}, window: '1min' }`
    : `accepted: ${RATE_FORMS}, or { ${LIMIT_FIELDS.join(', ')} }`
}

/** Whether units of the limit can be handed out in advance. A delay depends on the level at the instant of the request. */
export function canBeLeased(limit: Limit): boolean {
  const { delays, canHold } = algorithmOf(limit)
  return !delays && canHold
}

/** Whether a process can keep a copy of the count. The entries of a log are not sent. */
export function canBeSynced(limit: Limit): boolean {
  return canBeLeased(limit) && algorithmOf(limit).words > 0
}

/**
 * The limit as people write it: `token bucket 100/min, burst 20`.
 *
 * @example
 * ```ts
 * limitText(limit('100/min')) // 'token bucket 100/min'
 * ```
 */
export function limitText(limit: Limit): string {
  const { algorithm, quota, anchor, calendar, timeZone, startsOn, stamps, slots } = limit
  if (slots === true) return `${quota} at once, hold ${durationText(limit.window)}`
  const name = algorithm.replaceAll('-', ' ')
  if (calendar !== undefined) {
    const start =
      startsOn === undefined || startsOn === 1
        ? ''
        : `, from ${startsOn === Number(startsOn) ? `day ${startsOn}` : startsOn}`
    return `${name} ${quota}/${calendar} of the calendar in ${timeZone}${start}`
  }
  const rate = `${name} ${quota}/${periodText(limit.window)}`
  if (anchor !== undefined) return `${rate}, from the first request`
  if (stamps !== undefined) return `${rate}, ${stamps} stamps`
  return limit.burst === limit.quota ? rate : `${rate}, burst ${limit.burst}`
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
