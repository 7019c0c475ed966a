// When the requests of one kind of caller come, and for which keys.
import type { Limit } from '../limit/limit.ts'
import type { Millis } from '../time/clock.ts'
import { readScenario, type ReadTraffic } from './read-scenario.ts'
import { Random, zipfRanks } from './random.ts'
import type { Scenario } from './scenario.ts'

/**
 * One request. The time is in milliseconds since the start, with fractions.
 *
 * @example
 * ```ts
 * const arrival: Arrival = { at: 12.5, key: 'client-2' }
 * ```
 */
export interface Arrival {
  readonly at: number
  readonly key: string
}

/**
 * The instant at which every scenario begins: the edge of a minute and of an hour.
 *
 * @example
 * ```ts
 * const startsAt = new Date(START) // 2027-01-15T08:00:00.000Z
 * ```
 */
export const START: Millis = 1_800_000_000_000

/**
 * The first tries of all callers of a scenario, in order of time. Retries depend on decisions and are not among them.
 *
 * @example
 * ```ts
 * const arrivals = arrivalsOf({ lasts: '60s', limit: '10/s', traffic: [{ shape: 'poisson', rate: '20/s' }] })
 * ```
 */
export function arrivalsOf(scenario: Scenario): Arrival[] {
  const { traffic, limit, seed } = readScenario(scenario)
  const random = new Random(seed)
  const all = traffic.flatMap((one) => [...arrivalsOfKind(one, limit, START, random.fork())])
  return traffic.length === 1 ? all : all.sort((a, b) => a.at - b.at)
}

/** The requests of one kind of caller, in order of time. Depends on nothing but the seed of `random`. */
export function* arrivalsOfKind(
  traffic: ReadTraffic,
  limit: Limit,
  start: number,
  random: Random,
): Generator<Arrival, void> {
  const keys = namesOf(traffic, random)
  for (const at of INSTANTS[traffic.shape](traffic, limit, start, random)) {
    if (at >= traffic.until) return
    if (at >= traffic.from) yield { at, key: keys() }
  }
}

type Instants = (
  traffic: ReadTraffic,
  limit: Limit,
  start: number,
  random: Random,
) => Iterable<number>

const INSTANTS: Readonly<Record<ReadTraffic['shape'], Instants>> = {
  *steady({ from, gap }) {
    for (let i = 0; ; i++) yield from + i * gap
  },
  *poisson({ from, gap }, _limit, _start, random) {
    for (let at = from + random.gap(gap); ; at += random.gap(gap)) yield at
  },
  *bursts({ from, gap, on, off }, _limit, _start, random) {
    // Time is counted while the bursts are on; each full `on` is followed by an `off`.
    for (let busy = random.gap(gap); ; busy += random.gap(gap))
      yield from + busy + Math.floor(busy / on) * off
  },
  *edges({ count, spread, until }, { window }, start) {
    for (let edge = window - (start % window); edge < until + spread; edge += window) {
      for (let i = count; i >= 1; i--) yield edge - (i * spread) / count
      for (let i = 0; i < count; i++) yield edge + (i * spread) / count
    }
  },
  *once({ count, from, spread }) {
    for (let i = 0; i < count; i++) yield from + (i * spread) / count
  },
}

/** Draws the keys of a kind of caller. Requests at once come from each key in turn. */
function namesOf({ name, keys, zipf, shape }: ReadTraffic, random: Random): () => string {
  if (keys === 1) return () => name
  let turn = 0
  const ranks =
    shape === 'once' && zipf === 0 ? () => turn++ % keys : zipfRanks(keys, zipf, random.fork())
  return () => `${name}-${ranks() + 1}`
}
