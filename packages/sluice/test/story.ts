// How a story is told: a limit, and steps whose answers are still unknown.
import type { VectorStep } from '../src/testing/vectors.ts'
import type { Millis } from '../src/time/clock.ts'

/** A step without its answer. It may depend on the last answer, and be left out because of it. */
export type StoryStep = (last: LastAnswer) => VectorStep | undefined

/** The instants at which the last answer says to come back, and to find the count as good as new. */
export interface LastAnswer {
  readonly allowed: boolean
  readonly retry: Millis
  readonly reset: Millis
  readonly at: Millis
}

/** A limit, and what happens on one key of it. */
export interface Story {
  readonly name: string
  readonly limit: { readonly quota: number; readonly window: Millis; readonly burst?: number }
  readonly steps: readonly StoryStep[]
}

const because = (why: string | undefined): { why?: string } => (why === undefined ? {} : { why })

/** Takes a cost at an instant. */
export const take =
  (at: Millis, cost = 1, why?: string): StoryStep =>
  () => ({ at, cost, ...because(why) })

/** Asks without taking. */
export const peek =
  (at: Millis, cost = 1, why?: string): StoryStep =>
  () => ({ at, do: 'peek', cost, ...because(why) })

/** Hands back what was taken at `takenAt`. */
export const refund =
  (at: Millis, cost: number, takenAt: Millis, why?: string): StoryStep =>
  () => ({ at, do: 'refund', cost, takenAt, ...because(why) })

/** Comes back one millisecond too early, then in time: refused, then allowed. Left out after an allowed step. */
export const comeBack = (cost = 1): readonly StoryStep[] => [
  ({ allowed, retry }) =>
    allowed ? undefined : { at: retry - 1, cost, why: 'one millisecond before retryAfter' },
  ({ allowed, retry }) => (allowed ? undefined : { at: retry, cost, why: 'at retryAfter' }),
]

/** Asks for everything one millisecond before the count is as good as new, then when it is. */
export const untilReset = (all: number): readonly StoryStep[] => [
  ({ at, reset }) =>
    at === reset
      ? undefined
      : { at: reset - 1, do: 'peek', cost: all, why: 'one millisecond before resetAfter' },
  ({ reset }) => ({ at: reset, do: 'peek', cost: all, why: 'at resetAfter' }),
]

/** A real instant at which windows of a second, a minute, an hour begin. */
export const T = 1_800_000_000_000
export const HOUR = 3_600_000
export const DAY = 24 * HOUR
export const TEN_YEARS = 3650 * DAY
