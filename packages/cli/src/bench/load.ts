// Sends requests for a while, so many at once, and keeps how long each took.
import { isPromise, type Attributes } from 'sluice'
import type { Target } from './target.ts'

/** What was measured of one target. */
export interface Measured {
  readonly name: string
  readonly decisions: number
  readonly seconds: number
  readonly perSecond: number
  readonly allowed: number
  readonly refused: number
  /** Decisions of a fallback, because the store did not answer. */
  readonly degraded: number
  readonly failed: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  readonly storeCallsPerDecision: number | null
  /** Rules of the policy that applied to at least one request. */
  readonly rules: readonly string[]
}

/** How the load is made. */
export interface LoadOptions {
  readonly seconds: number
  /** Requests under way at the same time; memory answers at once and has one. */
  readonly concurrency: number
  /** The attributes of the next request. */
  readonly next: () => Attributes
  readonly signal: AbortSignal
}

/** Latencies are kept in steps of 5%, so that memory does not grow with the load. */
const STEP = Math.log(1.05)
const SMALLEST = 0.0001
/** A loop that answers at once makes room for others after so many decisions. */
const TURN = 2000

/** Measures one target. */
export async function measure(target: Target, options: LoadOptions): Promise<Measured> {
  const { seconds, concurrency, next, signal } = options
  const counts = { decisions: 0, allowed: 0, refused: 0, degraded: 0, failed: 0 }
  const latencies = new Map<number, number>()
  const rules = new Set<string>()
  // Connections, scripts and compiled code are there before the measurement.
  await Promise.allSettled(Array.from({ length: concurrency }, async () => target.check(next())))
  const callsBefore = await target.storeCalls()
  const begun = performance.now()
  const end = begun + seconds * 1000
  const note = (started: number): void => {
    const step = Math.round(Math.log(Math.max(SMALLEST, performance.now() - started)) / STEP)
    latencies.set(step, (latencies.get(step) ?? 0) + 1)
  }
  const worker = async (): Promise<void> => {
    for (let i = 1; performance.now() < end && !signal.aborted; i++) {
      const started = performance.now()
      counts.decisions += 1
      try {
        const answer = target.check(next())
        const decision = isPromise(answer) ? await answer : answer
        counts[decision.allowed ? 'allowed' : 'refused'] += 1
        if (decision.degraded) counts.degraded += 1
        if (decision.rule !== null) rules.add(decision.rule)
      } catch {
        counts.failed += 1
      }
      note(started)
      if (i % TURN === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  const took = (performance.now() - begun) / 1000
  const callsAfter = await target.storeCalls()
  const quantile = (share: number): number => quantileOf(latencies, counts.decisions, share)
  return {
    name: target.name,
    seconds: took,
    perSecond: counts.decisions / took,
    ...counts,
    p50: quantile(0.5),
    p99: quantile(0.99),
    storeCallsPerDecision:
      callsBefore === undefined || callsAfter === undefined
        ? null
        : (callsAfter - callsBefore) / Math.max(1, counts.decisions),
    rules: [...rules],
  }
}

function quantileOf(latencies: ReadonlyMap<number, number>, all: number, share: number): number {
  let left = share * all
  for (const [step, count] of [...latencies].toSorted(([a], [b]) => a - b))
    if ((left -= count) <= 0) return Math.exp(step * STEP)
  return 0
}
