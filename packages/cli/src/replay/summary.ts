// Turns a finished replay into plain data.
import type { AlgorithmName, Millis } from 'sluice'
import type { Candidate } from './candidate.ts'
import { caveatsOf, type Caveat } from './caveats.ts'
import { curveOf } from './curve.ts'
import type { Peaks } from './peaks.ts'
import type { Replay } from './replay.ts'
import type { CandidateResult, PeakSummary, ReplayResult, Victim } from './result.ts'
import { verdictOf } from './verdict.ts'

/** What the result contains. */
export interface SummaryOptions {
  /** How a client is shown; default: its key. */
  readonly nameOf?: (key: string) => string
  /** The most victims of each candidate. */
  readonly victims?: number
  /** The algorithms of the curve; none: no curve. */
  readonly curve?: readonly AlgorithmName[]
  readonly stopped?: boolean
  /** What was wrong with compressed data. */
  readonly damaged?: readonly string[]
  readonly caveats?: readonly Caveat[]
}

const MAX_DISTRIBUTION = 200

/** The result of a replay that is finished. */
export function summaryOf<T>(replay: Replay<T>, options: SummaryOptions = {}): ReplayResult {
  const { nameOf, victims = 10, curve = [], stopped = false, damaged = [] } = options
  const show = (client: number): string => {
    const key = replay.clients.key(client)
    return nameOf?.(key) ?? key
  }
  const { timeline } = replay
  const sampled = curve.length === 0 ? undefined : replay.sampled()
  const result: Omit<ReplayResult, 'verdict'> = {
    version: 1,
    input: inputOf(replay, stopped),
    by: replay.by,
    clients: replay.clients.size,
    hashed: nameOf !== undefined,
    candidates: replay.candidates.map((candidate, i) =>
      candidateOf(replay, candidate, { show, victims, timeline: timeline.of(i + 1) }),
    ),
    timeline: { start: timeline.start, width: timeline.width, requests: timeline.of(0) },
    peaks: replay.peaks.map((peaks) => peaksOf(peaks, replay.clients.size)),
    curves:
      sampled === undefined
        ? []
        : replay.peaks.map((peaks) =>
            curveOf(sampled, peaks.window, curve, highest(peaks, replay.clients.size)),
          ),
    caveats: [...caveatsOf(replay, show, damaged), ...(options.caveats ?? [])],
  }
  const { version, ...rest } = result
  return { version, verdict: verdictOf(result), ...rest }
}

function inputOf<T>(replay: Replay<T>, stopped: boolean): ReplayResult['input'] {
  const formats = new Set(replay.sources.flatMap(({ parser }) => parser?.format ?? []))
  return {
    files: replay.sources.map(({ name }) => name),
    formats: [...formats],
    lines: replay.sources.reduce((sum, { lines }) => sum + lines, 0),
    requests: replay.requests,
    badLines: [...replay.faults].map(([fault, { count, file, line }]) => ({
      fault,
      count,
      file,
      line,
    })),
    withoutKey: replay.withoutKey,
    outside: replay.outside,
    from: replay.first ?? null,
    to: replay.last ?? null,
    stopped,
  }
}

function candidateOf<T>(
  replay: Replay<T>,
  candidate: Candidate<T>,
  options: {
    readonly show: (client: number) => string
    readonly victims: number
    readonly timeline: readonly number[]
  },
): CandidateResult {
  const { show, timeline } = options
  const { decider, refused, clientsHit, longestClient } = candidate
  const peaks = replay.peaks.find(({ window }) => decider.windows.includes(window))
  const worst = worstOf(candidate, replay.clients.size, options.victims)
  return {
    name: decider.name,
    limit: decider.limit,
    refused,
    refusedShare: ratio(refused, replay.requests),
    clientsHit,
    clientShare: ratio(clientsHit, replay.clients.size),
    victims: worst.map((client): Victim => ({
      client: show(client),
      requests: replay.requestsOf(client),
      refused: candidate.refusedOf(client),
      peak: peaks?.of(client) ?? 0,
      longest: candidate.longestOf(client),
    })),
    longest:
      longestClient < 0
        ? null
        : { client: show(longestClient), from: candidate.longestFrom, duration: candidate.longest },
    rules: [...decider.refusedBy].map(([rule, refused]) => ({ rule, refused })),
    timeline,
  }
}

/** The clients with the most refusals, without sorting all of them. */
function worstOf<T>(candidate: Candidate<T>, clients: number, most: number): readonly number[] {
  const worst: number[] = []
  for (let client = 0; client < clients; client++) {
    const refused = candidate.refusedOf(client)
    if (refused === 0) continue
    const last = worst.at(-1)
    if (worst.length >= most && refused <= candidate.refusedOf(last!)) continue
    let place = worst.length
    while (place > 0 && candidate.refusedOf(worst[place - 1]!) < refused) place--
    worst.splice(place, 0, client)
    if (worst.length > most) worst.pop()
  }
  return worst
}

/** How many clients had which peak. */
export function peaksOf(peaks: Peaks, clients: number): PeakSummary {
  const counts = new Map<number, number>()
  for (let client = 0; client < clients; client++) {
    const peak = peaks.of(client)
    if (peak > 0) counts.set(peak, (counts.get(peak) ?? 0) + 1)
  }
  const sorted = [...counts].toSorted(([a], [b]) => a - b)
  const total = sorted.reduce((sum, [, clients]) => sum + clients, 0)
  const quantile = (share: number): number => {
    let below = 0
    for (const [peak, clients] of sorted) {
      below += clients
      if (below >= share * total) return peak
    }
    return sorted.at(-1)?.[0] ?? 0
  }
  return {
    window: peaks.window,
    p50: quantile(0.5),
    p90: quantile(0.9),
    p95: quantile(0.95),
    p99: quantile(0.99),
    p999: quantile(0.999),
    max: sorted.at(-1)?.[0] ?? 0,
    distribution: joined(sorted),
  }
}

/** At most {@link MAX_DISTRIBUTION} pairs: high peaks, of which there are few, are joined into ranges. */
function joined(
  sorted: readonly (readonly [number, number])[],
): readonly (readonly [number, number])[] {
  if (sorted.length <= MAX_DISTRIBUTION) return sorted
  const highest = sorted.at(-1)![0]
  const step = highest ** (1 / MAX_DISTRIBUTION)
  const pairs: [number, number][] = []
  let edge = 0
  for (const [peak, clients] of sorted) {
    const last = pairs.at(-1)
    if (last !== undefined && peak <= edge) {
      last[0] = peak
      last[1] += clients
    } else {
      pairs.push([peak, clients])
      edge = peak * step
    }
  }
  return pairs
}

function highest(peaks: Peaks, clients: number): number {
  let highest: Millis = 0
  for (let client = 0; client < clients; client++) highest = Math.max(highest, peaks.of(client))
  return highest
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}
