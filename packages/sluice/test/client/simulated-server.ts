// A server in simulated time: limits by the library itself, answers after a latency, tells as much as it is asked to.
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import type { LimitInput } from '../../src/limit/limit.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { FakeTimers } from '../../src/testing/fake-timers.ts'
import type { Decision } from '../../src/decision/decision.ts'

export interface SimulatedServer {
  readonly fetch: typeof globalThis.fetch
  /** Replaces the limit; counts of the old one are forgotten. */
  setLimit(limit: LimitInput): void
  /** The instants at which requests were admitted and refused. */
  readonly admitted: number[]
  readonly refused: number[]
}

/** What a server tells beside its answer. */
export type Telling = (decision: Decision) => Record<string, string>

export const tellsNothing: Telling = () => ({})
export const tellsRetryAfter: Telling = ({ allowed, retryAfter }) =>
  allowed ? {} : { 'retry-after': String(Math.ceil((retryAfter ?? 0) / 1000)) }

export function simulatedServer(
  timers: FakeTimers,
  limit: LimitInput,
  tell: Telling,
  random: () => number,
): SimulatedServer {
  const make = (input: LimitInput) =>
    createLimiter({ limit: input, store: memoryStore({ clock: timers.clock }) })
  let limiter = make(limit)
  const admitted: number[] = []
  const refused: number[] = []
  const after = (millis: number): Promise<void> =>
    new Promise((resolve) => void timers.set(resolve, millis))
  return {
    admitted,
    refused,
    setLimit: (next) => void (limiter = make(next)),
    fetch: async (_, init) => {
      await after(2 + Math.floor(random() * 10))
      init?.signal?.throwIfAborted()
      const decision = limiter.check('client')
      ;(decision.allowed ? admitted : refused).push(timers.clock())
      const headers = tell(decision)
      await after(2 + Math.floor(random() * 10))
      return new Response(null, { status: decision.allowed ? 200 : 429, headers })
    },
  }
}

/** Draws numbers from 0 to below 1, the same ones for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
