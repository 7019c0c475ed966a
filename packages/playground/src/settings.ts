// What the controls say, and the same as the fragment of the address, so that a link carries the whole state.
import { ALGORITHMS, type AlgorithmName } from 'sluice'

/** Where requests come from. */
export type TrafficName =
  | 'steady'
  | 'poisson'
  | 'bursts'
  | 'edges'
  | 'crowd'
  | 'storm'
  | 'jitter'
  | 'herd'
  | 'drawn'
  | 'log'

/** Everything that can be set. */
export interface Settings {
  readonly traffic: TrafficName
  /** Requests per second, on average or while they are on. */
  readonly rate: number
  /** Seconds. */
  readonly lasts: number
  readonly keys: number
  readonly zipf: number
  readonly seed: number
  /** Drawn traffic: for each column, a share of twice the rate, from 0 to 100. */
  readonly drawn: readonly number[]
  readonly quota: number
  /** Seconds. */
  readonly window: number
  readonly burst: number
  readonly algorithms: readonly AlgorithmName[]
  /** The instant that is looked at: from 0 to 1000 of the whole time. */
  readonly at: number
}

/** The columns of drawn traffic. */
export const DRAWN_COLUMNS = 40

/** A hill and a spike, to begin with. */
const DRAWN = Array.from({ length: DRAWN_COLUMNS }, (_, i) =>
  Math.round(i === 28 ? 100 : 10 + 45 * Math.exp(-(((i - 12) / 5) ** 2))),
)

/** What the page shows at first. */
export const DEFAULTS: Settings = {
  traffic: 'bursts',
  rate: 3,
  lasts: 60,
  keys: 1,
  zipf: 1,
  seed: 1,
  drawn: DRAWN,
  quota: 20,
  window: 10,
  burst: 20,
  algorithms: ALGORITHMS.filter((name) => isPlain(name)),
  at: 250,
}

/** The smallest and the largest value of each number. */
export const RANGES = {
  rate: [0.1, 1000],
  lasts: [10, 3600],
  keys: [1, 1000],
  zipf: [0, 3],
  seed: [0, 999_999],
  quota: [1, 10_000],
  window: [1, 3600],
  burst: [1, 20_000],
  at: [0, 1000],
} as const satisfies Partial<Record<keyof Settings, readonly [number, number]>>

/** The name of a setting that is a number. */
export type NumberName = keyof typeof RANGES

const TRAFFIC: readonly TrafficName[] = [
  'steady',
  'poisson',
  'bursts',
  'edges',
  'crowd',
  'storm',
  'jitter',
  'herd',
  'drawn',
  'log',
]

/** The algorithms that a quota and a window alone describe. */
function isPlain(name: AlgorithmName): boolean {
  return [
    'token-bucket',
    'gcra',
    'leaky-bucket',
    'fixed-window',
    'sliding-window',
    'sliding-log',
  ].includes(name)
}

/** A number within the range of its setting. */
export function clamped(name: NumberName, value: number): number {
  const [least, most] = RANGES[name]
  if (Number.isNaN(value)) return DEFAULTS[name]
  const fits = Math.min(most, Math.max(least, value))
  return name === 'rate' || name === 'zipf' ? Math.round(fits * 100) / 100 : Math.round(fits)
}

/** The settings as the fragment of an address; what is as at first is left out. */
export function toFragment(settings: Settings): string {
  const fields = new URLSearchParams()
  if (settings.traffic !== DEFAULTS.traffic) fields.set('traffic', settings.traffic)
  for (const name of Object.keys(RANGES) as NumberName[])
    if (settings[name] !== DEFAULTS[name]) fields.set(name, String(settings[name]))
  if (settings.traffic === 'drawn')
    fields.set('drawn', settings.drawn.map((one) => one.toString(36).padStart(2, '0')).join(''))
  if (settings.algorithms.join() !== DEFAULTS.algorithms.join())
    fields.set('algorithms', settings.algorithms.join(','))
  return fields.toString()
}

/** The settings of a fragment. What it does not have, or has wrong, is as at first. */
export function fromFragment(fragment: string): Settings {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''))
  const numbers = Object.fromEntries(
    (Object.keys(RANGES) as NumberName[]).map((name) => [
      name,
      fields.has(name) ? clamped(name, Number(fields.get(name))) : DEFAULTS[name],
    ]),
  ) as Pick<Settings, NumberName>
  const traffic = TRAFFIC.find((name) => name === fields.get('traffic')) ?? DEFAULTS.traffic
  const named = fields.get('algorithms')?.split(',')
  const algorithms = DEFAULTS.algorithms.filter((name) => named?.includes(name) ?? true)
  return {
    ...numbers,
    traffic,
    drawn: drawnOf(fields.get('drawn')) ?? DEFAULTS.drawn,
    algorithms: algorithms.length === 0 ? DEFAULTS.algorithms : algorithms,
  }
}

function drawnOf(text: string | null): readonly number[] | undefined {
  const columns = text?.match(/../g)?.map((pair) => Number.parseInt(pair, 36))
  if (columns?.length !== DRAWN_COLUMNS || columns.some((one) => !(one >= 0 && one <= 100)))
    return undefined
  return columns
}
