// When the requests of one kind of caller come, and for which keys.
import type { Limit } from '../limit/limit.ts'
import type { ReadTraffic } from './read-scenario.ts'
import { zipfRanks, type Random } from './random.ts'

/** One request. The time is in milliseconds since the start, with fractions. */
export interface Arrival {
  readonly at: number
  readonly key: string
}

/** The requests of one kind of caller, in order of time. Depends on nothing but the seed of `random`. */
export function* arrivalsOf(
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
