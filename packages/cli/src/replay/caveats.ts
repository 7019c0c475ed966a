// Pitfalls found in this log: how they affect the numbers, and what to do about them.
import type { Millis } from 'sluice'
import type { Replay } from './replay.ts'
import type { Source } from './source.ts'
import { count, countOf, instant, percent, span } from '../terminal/words.ts'

/** The kinds of caveats. */
type CaveatCode =
  | 'whole-seconds'
  | 'stamped-at-end'
  | 'refused-before'
  | 'unsorted'
  | 'late-lines'
  | 'implausible-times'
  | 'shared-address'
  | 'surge'
  | 'one-client'
  | 'without-key'
  | 'bad-lines'
  | 'damaged'
  | 'many-clients'
  | 'lower-peaks'
  | 'unknown-attribute'

/** One thing to keep in mind. */
export interface Caveat {
  readonly code: CaveatCode
  /** What was found, what it does to the numbers, and what to do. */
  readonly message: string
}

/** A period of much more demand than usual. */
interface Surge {
  readonly from: Millis
  readonly to: Millis
  readonly factor: number
}

const DAY: Millis = 86_400_000
const HOUR: Millis = 3_600_000
const SURGE_FACTOR = 4
const SHARED_AGENTS = 10

/** Everything worth saying about a replay. `show` names a client as the report does. */
export function caveatsOf<T>(
  replay: Replay<T>,
  show: (client: number) => string,
  damaged: readonly string[],
): readonly Caveat[] {
  const caveats: Caveat[] = []
  const say = (code: CaveatCode, message: string): void => void caveats.push({ code, message })
  const { requests, throttled, timed, fractional, reorder, withoutKey, clients } = replay
  const lines = sumOf(replay, ({ lines }) => lines)
  for (const message of damaged) say('damaged', message)
  if (requests === 0) return caveats
  const bad = [...replay.faults.values()].reduce((sum, fault) => sum + fault.count, 0)
  if (bad > 0)
    say(
      'bad-lines',
      `${countOf(bad, 'line')} of ${count(lines)} could not be read and were left out.`,
    )
  if (throttled > 0)
    say(
      'refused-before',
      `${countOf(throttled, 'line')} (${percent(throttled / requests)}) were refused with 429 when they were recorded. They count as demand here, but clients that were refused may have sent less, so the real demand may be higher.`,
    )
  if (fractional === 0)
    say(
      'whole-seconds',
      'Times are whole seconds: requests of one second count as simultaneous, so small bursts look sharper than they were.',
    )
  if (timed > requests / 2)
    say(
      'stamped-at-end',
      'The log says how long requests took. Most servers write the time at the end of a request; --arrival subtracts the duration, so that requests are decided when they came.',
    )
  else
    say(
      'stamped-at-end',
      'Some servers, nginx among them, write the time at the end of a request: slow requests then count later than they came.',
    )
  const unsorted = sumOf(replay, ({ unsorted }) => unsorted)
  if (unsorted > 0)
    say(
      'unsorted',
      `${countOf(unsorted, 'line')} (${percent(unsorted / requests)}) were not in the order of time and were put in order.`,
    )
  const late = reorder.late + sumOf(replay, ({ late }) => late)
  if (late > 0)
    say(
      'late-lines',
      `${countOf(late, 'line')} came too late to be put in order and were decided at a later time than theirs; --reorder 1d waits longer.`,
    )
  const implausible = sumOf(replay, ({ implausible }) => implausible)
  if (implausible > 0)
    say(
      'implausible-times',
      `${countOf(implausible, 'line')} with a time far from all others were left out.`,
    )
  if (withoutKey > 0)
    say(
      'without-key',
      `${countOf(withoutKey, 'line')} have no ${replay.by.join(' and ')}; a rule by it would skip them, and they were left out.`,
    )
  if (replay.by.includes('ip')) sharedAddresses(replay, show, say)
  busiest(replay, show, say)
  const surge = surgeIn(replay.timeline.of(0), replay.timeline.start, replay.timeline.width)
  if (surge !== undefined)
    say(
      'surge',
      `The ${span(surge.to - surge.from)} from ${instant(surge.from)} has ${surge.factor.toFixed(1)} times the requests of a usual one. If that was an attack or an incident, leave it out with --from and --to: a limit chosen on it fits the attack, not the users.`,
    )
  if (replay.untracked > 0)
    say(
      'many-clients',
      `There are more than ${count(clients.size)} clients; ${countOf(replay.untracked, 'request')} of the others were decided exactly, but are missing from the statistics of clients.`,
    )
  if (replay.peaks.some(({ isCut }) => isCut))
    say(
      'lower-peaks',
      'A window held more requests than can be remembered; peaks may be higher than shown.',
    )
  return caveats
}

function sumOf<T>(replay: Replay<T>, of: (source: Source<T>) => number): number {
  return replay.sources.reduce((sum, source) => sum + of(source), 0)
}

function sharedAddresses<T>(
  replay: Replay<T>,
  show: (client: number) => string,
  say: (code: CaveatCode, message: string) => void,
): void {
  let shared = 0
  let most = -1
  for (let client = 0; client < replay.clients.size; client++) {
    if (replay.agents.of(client) < SHARED_AGENTS) continue
    shared++
    if (most < 0 || replay.requestsOf(client) > replay.requestsOf(most)) most = client
  }
  if (shared === 0) return
  say(
    'shared-address',
    `${shared === 1 ? '1 address has' : `${count(shared)} addresses have`} ${SHARED_AGENTS} user agents or more, such as ${show(most)} with about ${replay.agents.of(most)}: probably many people behind one NAT or proxy, or a crawler that changes its name. A limit by address counts them as one client.`,
  )
}

function busiest<T>(
  replay: Replay<T>,
  show: (client: number) => string,
  say: (code: CaveatCode, message: string) => void,
): void {
  let most = 0
  for (let client = 1; client < replay.clients.size; client++)
    if (replay.requestsOf(client) > replay.requestsOf(most)) most = client
  const share = replay.requestsOf(most) / replay.requests
  if (replay.clients.size < 10 || share < 0.2) return
  say(
    'one-client',
    `One client, ${show(most)}, makes ${percent(share)} of all requests: percentages of requests mostly describe this one client.`,
  )
}

/** The day (or hour, in shorter logs) with several times the requests of the median one. */
function surgeIn(counts: readonly number[], start: Millis, width: Millis): Surge | undefined {
  const length = counts.length * width
  const period = length >= 3 * DAY ? DAY : length >= 12 * HOUR ? HOUR : undefined
  if (period === undefined || width > period) return undefined
  const sums = new Map<number, number>()
  for (const [i, value] of counts.entries()) {
    const index = Math.floor((start + i * width) / period)
    sums.set(index, (sums.get(index) ?? 0) + value)
  }
  const sorted = [...sums.values()].toSorted((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0
  const [index, highest] = [...sums].reduce((best, one) => (one[1] > best[1] ? one : best))
  if (median === 0 || highest < SURGE_FACTOR * median) return undefined
  return { from: index * period, to: (index + 1) * period, factor: highest / median }
}
