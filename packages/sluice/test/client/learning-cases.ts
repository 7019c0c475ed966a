// Limits, networks and servers drawn by chance, at which a learned rate has to prove itself.
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
  /** The shortest and the longest time of one way, in milliseconds. */
  readonly latency: readonly [number, number]
  readonly tellsRetryAfter: boolean
}

/** The lowest limit, per second. */
const SLOWEST = 5
/** A sliding log takes at most 10,000, also when it is raised to twice as much. */
const MOST_LOGGED = 5000

/**
 * A case within the promise: 5 to 1,000 per second in windows of 1 to 10 s, or buckets with room for three at least;
 * latencies that swing by up to 2 % of the window. Where arrivals swing by more, no sender can keep within 5 % of a
 * strict limit without being refused.
 */
export function drawCase(algorithm: AlgorithmName, seed: number): LearningCase {
  const random = seeded(seed)
  const pick = (list: readonly number[]): number => list[Math.floor(random() * list.length)]!
  const seconds = pick([1, 2, 5, 10])
  const perSecond = Math.min(Math.round(SLOWEST * 200 ** (random() ** 1.5)), MOST_LOGGED / seconds)
  const quota = perSecond * seconds
  const isBucket = !/window|log/.test(algorithm)
  const burst = Math.max(3, Math.round(quota * pick([0.1, 0.5, 1])))
  const room = isBucket ? (500 * burst) / perSecond : Infinity
  const swing = Math.round(Math.min(200, random() * 20 * seconds, room))
  const least = Math.round(1 + random() * 60)
  const limit = { algorithm, quota, window: seconds * 1000, ...(isBucket && { burst }) }
  return { seed, limit, latency: [least, least + swing], tellsRetryAfter: random() < 0.5 }
}

/** The same limit for so many times as much, but no less than 5 per second: below, nothing is promised. */
function scaled({ quota, burst, ...limit }: DrawnLimit, factor: number): DrawnLimit {
  const least = (SLOWEST * limit.window) / 1000
  const scaledBurst = burst === undefined ? {} : { burst: Math.max(3, Math.round(burst * factor)) }
  return { ...limit, quota: Math.max(least, Math.round(quota * factor)), ...scaledBurst }
}

/** What the greediest client gets per millisecond, who asks all the time. A sliding window gives less than its quota. */
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

/** How much of what the limit gave in a span was used; a bucket gives what it held as well. */
function shareOf({ admitted, drawn }: Harvest, limit: DrawnLimit, millis: number): number {
  return (admitted - 1) / (trueRate(limit) * millis + (limit.burst === undefined ? 0 : drawn))
}

const MINUTE = 60_000

export interface Learned {
  readonly share: number
  readonly refused: number
  readonly whileLearning: number
}

/** Learns for some minutes, and is then watched for some; with every change, from there on. */
export function learn(
  { seed, limit, latency, tellsRetryAfter }: LearningCase,
  steps: readonly {
    readonly factor: number
    readonly learning: number
    readonly watched: number
  }[],
): readonly Learned[] {
  const random = seeded(seed + 1)
  const crowd = simulatedCrowd({ limit, latency, tellsRetryAfter, start: 10, random })
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
