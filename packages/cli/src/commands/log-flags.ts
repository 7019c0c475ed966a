// The flags of all commands that read logs, checked and turned into data before anything is read.
import {
  ALGORITHMS,
  limit,
  type AlgorithmName,
  type Limit,
  type Millis,
  type RateText,
} from 'sluice'
import { FORMATS, type FormatName, type Mapping } from '../logs/parser.ts'
import { instantOf } from '../logs/stamp.ts'
import { durationFlag } from '../terminal/duration-flag.ts'
import { Mistake } from '../terminal/mistake.ts'

/** The flags that say which lines are read and how. */
export interface LogFlags {
  readonly format?: string
  readonly map?: readonly string[]
  readonly reorder?: string
  readonly from?: string
  readonly to?: string
  readonly arrival?: boolean
}

/** How lines are read. */
export interface LogOptions {
  readonly format?: FormatName
  readonly mapping: Mapping
  readonly reorder?: Millis
  readonly from?: Millis
  readonly to?: Millis
  readonly arrival: boolean
}

/** Checks the flags of all commands that read a log. Throws {@link Mistake}. */
export function logOptions(flags: LogFlags): LogOptions {
  const { format, map = [], reorder, from, to, arrival = false } = flags
  if (format !== undefined && !(FORMATS as readonly string[]).includes(format))
    throw new Mistake(`--format is ${format}; accepted: ${FORMATS.join(', ')}`)
  return {
    ...(format === undefined ? {} : { format: format as FormatName }),
    mapping: mappingOf(map),
    ...(reorder === undefined
      ? {}
      : { reorder: durationFlag('--reorder', reorder, '5min, 1h or 1d') }),
    ...(from === undefined ? {} : { from: timeOf('--from', from) }),
    ...(to === undefined ? {} : { to: timeOf('--to', to) }),
    arrival,
  }
}

/** The candidates of `--try` times those of `--algorithm`. Throws {@link Mistake}. */
export function limitsOf(rates: string, algorithms: readonly AlgorithmName[]): readonly Limit[] {
  const limits: Limit[] = []
  for (const rate of listOf(rates))
    for (const algorithm of algorithms) {
      try {
        limits.push(limit(rate as RateText, { algorithm }))
      } catch (error) {
        throw new Mistake(`--try: ${(error as Error).message}`, { cause: error })
      }
    }
  if (limits.length === 0)
    throw new Mistake('--try is empty; accepted: rates such as 10/min,30/min')
  return limits
}

/** The algorithms of a list, or all. Throws {@link Mistake}. */
export function algorithmsOf(text: string): readonly AlgorithmName[] {
  if (text === 'all') return ALGORITHMS
  const names = listOf(text)
  const unknown = names.find((name) => !(ALGORITHMS as readonly string[]).includes(name))
  if (unknown !== undefined || names.length === 0)
    throw new Mistake(
      `--algorithm is ${unknown ?? 'empty'}; accepted: all, ${ALGORITHMS.join(', ')}`,
    )
  return names as AlgorithmName[]
}

/** The parts of a list with commas. */
export function listOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function mappingOf(pairs: readonly string[]): Mapping {
  return new Map(
    pairs.map((pair) => {
      const match = /^(\w+)=(.+)$/.exec(pair)
      if (match === null)
        throw new Mistake(
          `--map is ${pair}; accepted: attribute=field, such as user=request.user.id`,
        )
      return [match[1]!, match[2]!]
    }),
  )
}

function timeOf(flag: string, text: string): Millis {
  const full = /^\d{4}-\d\d-\d\d$/.test(text)
    ? `${text}T00:00:00Z`
    : /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d$/.test(text)
      ? `${text}:00Z`
      : text
  const at = instantOf(full)
  if (Number.isNaN(at))
    throw new Mistake(
      `${flag} is ${text}; accepted: 2026-05-17, 2026-05-17T10:00 or with a zone, such as 2026-05-17T10:00:00+02:00`,
    )
  return at
}
