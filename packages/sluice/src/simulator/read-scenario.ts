// Reads a scenario: names every mistake by its place, and fills in the defaults.
import { limit as limitOf, type Limit, type LimitInput } from '../limit/limit.ts'
import type { OnStoreFailure } from '../limit/verdict.ts'
import { OptionReader, readDuration } from '../options/option-reader.ts'
import type { Millis } from '../time/clock.ts'
import type { Duration } from '../time/duration.ts'
import {
  MODE_NAMES,
  type Fault,
  type ModeName,
  type Retry,
  type Routing,
  type Scenario,
  type Traffic,
} from './scenario.ts'

/** A scenario without gaps. */
export interface ReadScenario {
  readonly name: string
  readonly seed: number
  readonly lasts: Millis
  readonly limit: Limit
  readonly traffic: readonly ReadTraffic[]
  readonly mode: ModeName
  readonly pods: number
  readonly routing: Routing
  readonly latency: readonly [least: number, most: number]
  readonly timeout: Millis
  readonly onFailure: OnStoreFailure
  readonly faults: readonly ReadFault[]
}

/** A kind of caller without gaps. */
export interface ReadTraffic {
  readonly name: string
  readonly shape: Traffic['shape']
  /** Milliseconds between two requests on average; 0 for shapes with a count. */
  readonly gap: number
  readonly count: number
  readonly spread: Millis
  readonly on: Millis
  readonly off: Millis
  readonly from: Millis
  readonly until: Millis
  readonly keys: number
  readonly zipf: number
  readonly cost: number
  readonly retry: ReadRetry | undefined
}

/** How a refused caller tries again, without gaps. */
interface ReadRetry {
  readonly attempts: number
  readonly wait: NonNullable<Retry['wait']>
  readonly first: Millis
  readonly jitter: boolean
}

/** A fault without gaps. */
export interface ReadFault {
  readonly at: Millis
  readonly type: Fault['type']
  readonly lasts: Millis
  readonly pod: number
  readonly lost: Millis
}

const SCENARIO = [
  'name',
  'about',
  'seed',
  'lasts',
  'limit',
  'traffic',
  'mode',
  'pods',
  'routing',
  'store',
  'faults',
]
const TRAFFIC = [
  'name',
  'shape',
  'rate',
  'count',
  'spread',
  'on',
  'off',
  'from',
  'until',
  'keys',
  'zipf',
  'cost',
  'retry',
]
const SHAPES = ['steady', 'poisson', 'bursts', 'edges', 'once'] as const
const FAULTS = ['outage', 'stall', 'failover', 'crash', 'suspend', 'rolling-restart'] as const
const FAILURE_MODES = ['local', 'open', 'closed'] as const
const WAITS = ['fixed', 'backoff', 'retry-after'] as const
const SECOND: Millis = 1000
const MAX_PODS = 10_000

/** Checks a scenario and fills in its defaults. Throws `invalid-option` for the first mistake. */
export function readScenario(input: Scenario): ReadScenario {
  const reader = new OptionReader('scenario', input, SCENARIO)
  const lasts = duration(reader, 'lasts', input.lasts)
  if (lasts === 0) reader.wrong('lasts', lasts, "a duration such as '10s'")
  const pods = reader.number('pods', input.pods, 1, { least: 1, most: MAX_PODS, whole: true })
  const { traffic, faults = [], store = {} } = input
  if (!Array.isArray(traffic) || traffic.length === 0)
    reader.wrong('traffic', traffic, 'a list with at least one kind of caller')
  if (!Array.isArray(faults)) reader.wrong('faults', faults, 'a list')
  const stores = new OptionReader('scenario.store', store, ['latency', 'timeout', 'onFailure'])
  return {
    name: input.name ?? 'scenario',
    seed: reader.number('seed', input.seed, 1, { least: 0, whole: true }),
    lasts,
    limit: limitOf(input.limit as LimitInput),
    traffic: traffic.map((one, i) => readTraffic(one as Traffic, `scenario.traffic[${i}]`, lasts)),
    mode: oneOf(reader, 'mode', input.mode, MODE_NAMES, 'strict'),
    pods,
    routing: readRouting(reader, input.routing),
    latency: readLatency(stores, store.latency),
    timeout: readDuration(stores, 'timeout', store.timeout, 100),
    onFailure: oneOf(stores, 'onFailure', store.onFailure, FAILURE_MODES, 'local'),
    faults: faults.map((one, i) => readFault(one as Fault, `scenario.faults[${i}]`, pods)),
  }
}

function readTraffic(input: Traffic, place: string, lasts: Millis): ReadTraffic {
  const reader = new OptionReader(place, input, TRAFFIC)
  const shape = oneOf(reader, 'shape', input.shape, SHAPES)
  const hasCount = shape === 'edges' || shape === 'once'
  if (hasCount && input.count === undefined)
    reader.wrong('count', input.count, `how many requests at once, for ${shape}`)
  if (!hasCount && input.rate === undefined)
    reader.wrong('rate', input.rate, `a rate such as '50/s', for ${shape}`)
  const count = reader.number('count', input.count, 0, { least: 1, whole: true })
  const rate = hasCount ? undefined : limitOf(input.rate as string)
  if (rate?.quota === 0) reader.wrong('rate', input.rate, 'a rate above 0')
  return {
    name: input.name ?? 'client',
    shape,
    gap: rate === undefined ? 0 : rate.window / rate.quota,
    count,
    spread: duration(reader, 'spread', input.spread, Math.min(100, count)),
    on: readDuration(reader, 'on', input.on, SECOND),
    off: duration(reader, 'off', input.off, 9 * SECOND),
    from: duration(reader, 'from', input.from, 0),
    until: Math.min(lasts, readDuration(reader, 'until', input.until, lasts)),
    keys: reader.number('keys', input.keys, 1, { least: 1, whole: true }),
    zipf: reader.number('zipf', input.zipf, 0, { least: 0, most: 10 }),
    cost: reader.number('cost', input.cost, 1, { least: 1, whole: true }),
    retry: input.retry === undefined ? undefined : readRetry(input.retry, `${place}.retry`),
  }
}

function readRetry(input: Retry, place: string): ReadRetry {
  const reader = new OptionReader(place, input, ['attempts', 'wait', 'first', 'jitter'])
  return {
    attempts: reader.number('attempts', input.attempts, 1, { least: 1, whole: true }),
    wait: oneOf(reader, 'wait', input.wait, WAITS, 'fixed'),
    first: readDuration(reader, 'first', input.first, SECOND),
    jitter: input.jitter === true,
  }
}

function readFault(input: Fault, place: string, pods: number): ReadFault {
  const reader = new OptionReader(place, input, ['at', 'type', 'lasts', 'pod', 'lost'])
  return {
    at: duration(reader, 'at', input.at),
    type: oneOf(reader, 'type', input.type, FAULTS),
    lasts: readDuration(reader, 'lasts', input.lasts, SECOND),
    pod: reader.number('pod', input.pod, 0, { least: 0, most: pods - 1, whole: true }),
    lost: duration(reader, 'lost', input.lost, Infinity),
  }
}

function readRouting(reader: OptionReader, routing: Routing = 'balanced'): Routing {
  if (routing === 'balanced' || routing === 'sticky') return routing
  const skewed = (routing as { skewed?: unknown } | null)?.skewed
  if (typeof skewed === 'number' && skewed >= 0 && skewed <= 1) return { skewed }
  return reader.wrong('routing', routing, "'balanced', 'sticky' or { skewed: 0.8 }")
}

function readLatency(
  reader: OptionReader,
  latency: number | readonly [number, number] = 1,
): readonly [number, number] {
  const [least, most] = Array.isArray(latency) ? (latency as [number, number]) : [latency, latency]
  if (typeof least === 'number' && typeof most === 'number' && least >= 0 && most >= least)
    return [least, most] as const
  return reader.wrong('latency', latency, 'milliseconds, or [least, most]')
}

/** A duration, which may be 0. Without a fallback it must be given. */
function duration(
  reader: OptionReader,
  option: string,
  value: Duration | undefined,
  fallback?: Millis,
): Millis {
  if (value === 0 || value === undefined)
    return value ?? fallback ?? reader.wrong(option, value, "a duration such as '10s'")
  return readDuration(reader, option, value, 0)
}

function oneOf<T extends string>(
  reader: OptionReader,
  option: string,
  value: T | undefined,
  accepted: readonly T[],
  fallback?: T,
): T {
  const chosen = value ?? fallback
  if (chosen !== undefined && accepted.includes(chosen)) return chosen
  return reader.wrong(option, value, accepted.join(', '))
}
