// Random limits, networks and servers for tests of the learned rate.
import type { AlgorithmName } from '../../src/limit/limit.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { simulatedCrowd, type Harvest } from './simulated-crowd.ts'
import { seeded } from './simulated-server.ts'

/** A limit as plain data, so that it can be scaled. */
interface DrawnLimit {
  readonly algorithm: AlgorithmName
  readonly quota: number
  readonly window: number
  readonly burst?: number
}

export interface LearningCase {
  readonly seed: number
  readonly limit: DrawnLimit
  /** The shortest and the longest one-way latency, in milliseconds. */
  readonly latency: readonly [number, number]
  readonly sendsRetryAfter: boolean
}

/** The lowest limit, per second. */
const MIN_PER_SECOND = 5
/** A sliding log accepts at most 10,000, and the test doubles the limit. */
const MAX_LOGGED = 5000

/**
 * A case within the documented bounds: 5 to 1,000 per second in windows of 1 to 10 s, or buckets with room for at
 * least three; latencies that vary by up to 2 % of the window. If arrivals vary by more, no sender can stay within
 * 5 % of a strict limit without being refused.
 */
export function drawCase(algorithm: AlgorithmName, seed: number): LearningCase {
  const random = seeded(seed)
  const pick = (list: readonly number[]): number => list[Math.floor(random() * list.length)]!
  const seconds = pick([1, 2, 5, 10])
  const perSecond = Math.min(
    Math.round(MIN_PER_SECOND * 200 ** (random() ** 1.5)),
    MAX_LOGGED / seconds,
  )
  const quota = perSecond * seconds
  const isBucket = !/window|log/.test(algorithm)
  const burst = Math.max(3, Math.round(quota * pick([0.1, 0.5, 1])))
  const room = isBucket ? (500 * burst) / perSecond : Infinity
  const swing = Math.round(Math.min(200, random() * 20 * seconds, room))
  const least = Math.round(1 + random() * 60)
  const limit = { algorithm, quota, window: seconds * 1000, ...(isBucket && { burst }) }
  return { seed, limit, latency: [least, least + swing], sendsRetryAfter: random() < 0.5 }
}

/** The limit times a factor, but at least 5 per second, below which nothing is promised. */
function scaled({ quota, burst, ...limit }: DrawnLimit, factor: number): DrawnLimit {
  const least = (MIN_PER_SECOND * limit.window) / 1000
  const scaledBurst = burst === undefined ? {} : { burst: Math.max(3, Math.round(burst * factor)) }
  return { ...limit, quota: Math.max(least, Math.round(quota * factor)), ...scaledBurst }
}

/** Requests per millisecond of a client that sends all the time. A sliding window allows less than its quota. */
function trueRate(limit: DrawnLimit): number {
  const clock = fakeClock(1_800_000_000_000)
  const limiter = createLimiter({ limit, store: memoryStore({ clock }) })
  let admitted = 0
  const run = (millis: number): void => {
    for (let i = 0; i < millis; i++, clock.advance(1))
      while (limiter.check('a').allowed) admitted += 1
  }
  run(2 * limit.window)
  admitted = 0
  run(10 * limit.window)
  return admitted / (10 * limit.window)
}

/** The share of the limit that was used in a span; a bucket also provides what it held at the start. */
function shareOf({ admitted, drawn }: Harvest, limit: DrawnLimit, millis: number): number {
  return (admitted - 1) / (trueRate(limit) * millis + (limit.burst === undefined ? 0 : drawn))
}

const MINUTE = 60_000

export interface Learned {
  readonly share: number
  readonly refused: number
  readonly whileLearning: number
}

/** Runs each step: some minutes of learning, then some that are measured. */
export function learn(
  { seed, limit, latency, sendsRetryAfter }: LearningCase,
  steps: readonly {
    readonly factor: number
    readonly learning: number
    readonly watched: number
  }[],
): readonly Learned[] {
  const random = seeded(seed + 1)
  const crowd = simulatedCrowd({ limit, latency, sendsRetryAfter, start: 10, random })
  return steps.map(({ factor, learning, watched }) => {
    const present = factor === 1 ? limit : scaled(limit, factor)
    crowd.setLimit(present)
    const first = crowd.run(learning * MINUTE)
    const then = crowd.run(watched * MINUTE)
    return {
      share: shareOf(then, present, watched * MINUTE),
      refused: refusedOf(then),
      whileLearning: refusedOf(first),
    }
  })
}

function refusedOf({ admitted, refused }: Harvest): number {
  return refused / (admitted + refused)
}
