// A server in simulated time, limited by the library itself, with latency and configurable headers.
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import type { LimitInput } from '../../src/limit/limit.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import type { FakeTimers } from '../../src/testing/fake-timers.ts'
import type { Decision } from '../../src/decision/decision.ts'

export interface SimulatedServer {
  readonly fetch: typeof globalThis.fetch
  /** Replaces the limit and drops its counts. */
  setLimit(limit: LimitInput): void
  /** The instants at which requests were admitted and refused. */
  readonly admitted: number[]
  readonly refused: number[]
}

/** The headers of a response. */
export type HeadersOf = (decision: Decision) => Record<string, string>

export const noHeaders: HeadersOf = () => ({})
export const retryAfterHeader: HeadersOf = ({ allowed, retryAfter }) =>
  allowed ? {} : { 'retry-after': String(Math.ceil((retryAfter ?? 0) / 1000)) }

export function simulatedServer(
  timers: FakeTimers,
  limit: LimitInput,
  headersOf: HeadersOf,
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
      const headers = headersOf(decision)
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
