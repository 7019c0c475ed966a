// What happens when a store is slow, gone or back, for metrics and logs.
import type { ErrorCode } from '../errors.ts'
import type { Millis } from '../time/clock.ts'

/** The breaker opened: the store is not asked until the first probe. */
export interface OpenedEvent {
  readonly type: 'opened'
  readonly at: Millis
  /** The code of the store's error; `store-failed` for one that is none of ours. */
  readonly cause: ErrorCode
  /** What the store said last. */
  readonly error: unknown
  /** Until the first probe. */
  readonly nextProbe: Millis
}

/** A request goes to the store as a probe. */
export interface HalfOpenEvent {
  readonly type: 'half-open'
  readonly at: Millis
}

/** The breaker closed: the store is asked again. */
export interface ClosedEvent {
  readonly type: 'closed'
  readonly at: Millis
  /** How long it was not closed. */
  readonly openFor: Millis
}

/** One call was answered without the store. */
export interface FallbackEvent {
  readonly type: 'fallback'
  readonly at: Millis
  readonly operation: 'check' | 'peek' | 'refund'
  /** The code of the store's error; `store-failed` for one that is none of ours. */
  readonly cause: ErrorCode
}

/** The store answered a check that had been given up and answered otherwise. */
export interface LateAnswerEvent {
  readonly type: 'late-answer'
  readonly at: Millis
  /** Whether it had charged units, which are now being handed back. */
  readonly givenBack: boolean
}

/** Everything that {@link ResilienceOptions.onEvent} hears of. `at` is this process's monotonic clock. */
export type ResilienceEvent =
  | OpenedEvent
  | HalfOpenEvent
  | ClosedEvent
  | FallbackEvent
  | LateAnswerEvent

/** Hears of events. What it throws or rejects with is dropped: a broken listener must not refuse requests. */
export type OnEvent = (event: ResilienceEvent) => void
