// The curve from a limit to the share of requests and clients that it refuses, for each algorithm.
import {
  createLimiter,
  limit as limitOf,
  memoryStore,
  type AlgorithmName,
  type Millis,
} from 'sluice'
import type { Track } from './client-sample.ts'

/** One limit and what it does. */
export interface CurvePoint {
  readonly quota: number
  /** Refused requests of all requests, 0 to 1. */
  readonly refusedShare: number
  /** Clients with a refused request of all clients, 0 to 1. */
  readonly clientShare: number
}

/** The curves of all algorithms for one window. */
export interface Curve {
  readonly window: Millis
  /** The clients that it was computed from, and of how many they are one. */
  readonly clients: number
  readonly oneIn: number
  /** Whether all requests of these clients were used. */
  readonly isExact: boolean
  readonly algorithms: readonly {
    readonly algorithm: AlgorithmName
    readonly points: readonly CurvePoint[]
  }[]
}

/** The clients that a curve is computed from, and of how many they are one. */
export interface Sampled {
  readonly tracks: readonly Track[]
  readonly oneIn: number
}

/** A sliding log remembers each request, and has no larger quota. */
const MAX_LOG = 10_000

/** Decides about the sampled requests again for each limit and algorithm, by the library. */
export function curveOf(
  sample: Sampled,
  window: Millis,
  algorithms: readonly AlgorithmName[],
  highestPeak: number,
): Curve {
  const tracks = tracksOf(sample, window)
  const quotas = quotasUpTo(highestPeak)
  return {
    window,
    clients: tracks.length,
    oneIn: sample.oneIn,
    isExact: sample.oneIn === 1 && tracks.every(({ times, requests }) => times.length === requests),
    algorithms: algorithms.map((algorithm) => ({
      algorithm,
      points: quotas
        .filter((quota) => algorithm !== 'sliding-log' || quota <= MAX_LOG)
        .map((quota) => pointOf(tracks, quota, window, algorithm)),
    })),
  }
}

/** The smallest quota that refuses fewer clients than `share`, by bisection; a larger quota refuses no more of them. */
export function smallestQuota(
  sample: Sampled,
  window: Millis,
  algorithm: AlgorithmName,
  highestPeak: number,
  share: number,
): CurvePoint {
  const tracks = tracksOf(sample, window)
  const most = algorithm === 'sliding-log' ? MAX_LOG : Infinity
  let [low, high] = [1, Math.min(Math.max(1, highestPeak), most)]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (pointOf(tracks, middle, window, algorithm).clientShare < share) high = middle
    else low = middle + 1
  }
  return pointOf(tracks, low, window, algorithm)
}

interface MeasuredTrack extends Track {
  /** The most requests within one window. */
  readonly peak: number
}

function tracksOf({ tracks }: Sampled, window: Millis): readonly MeasuredTrack[] {
  return tracks.map(({ times, requests }) => {
    let [first, peak] = [0, 0]
    for (const [i, at] of times.entries()) {
      while (times[first]! <= at - window) first++
      peak = Math.max(peak, i - first + 1)
    }
    return { times, requests, peak }
  })
}

function pointOf(
  tracks: readonly MeasuredTrack[],
  quota: number,
  window: Millis,
  algorithm: AlgorithmName,
): CurvePoint {
  const time = { now: 0 }
  const store = memoryStore({ clock: () => time.now })
  const limiter = createLimiter({ limit: limitOf({ quota, window, algorithm }), store })
  let [requests, refused, hit] = [0, 0, 0]
  const isEstimate = algorithm === 'sliding-window'
  for (const [i, track] of tracks.entries()) {
    requests += track.requests
    // No algorithm refuses a client that never has more requests than the quota within a window, but the sliding
    // window, which estimates, may.
    if ((isEstimate ? track.times.length : track.peak) <= quota) continue
    const key = String(i)
    let refusals = 0
    for (const at of track.times) {
      time.now = at
      if (!limiter.check(key).allowed) refusals++
    }
    if (refusals > 0) hit++
    refused += (refusals / track.times.length) * track.requests
    limiter.reset(key)
  }
  limiter.close()
  store.close()
  return {
    quota,
    refusedShare: requests === 0 ? 0 : refused / requests,
    clientShare: tracks.length === 0 ? 0 : hit / tracks.length,
  }
}

/** Limits at even distances on a logarithmic scale, from 1 to just above the highest peak. */
function quotasUpTo(peak: number): readonly number[] {
  const quotas: number[] = []
  for (let scale = 1; ; scale *= 10)
    for (const step of [1, 2, 3, 5, 7]) {
      quotas.push(step * scale)
      if (step * scale > peak) return quotas
    }
}
