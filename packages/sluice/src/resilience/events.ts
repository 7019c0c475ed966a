// What is reported when a store is slow, unreachable or back, for metrics and logs; by default on the console.
import type { ErrorCode } from '../errors.ts'
import type { Millis } from '../time/clock.ts'

/**
 * The breaker opened: no call goes to the store until the first probe.
 *
 * @example
 * ```ts
 * const wait = ({ nextProbe, at }: OpenedEvent) => nextProbe - at
 * ```
 */
export interface OpenedEvent {
  readonly type: 'opened'
  readonly at: Millis
  /** The code of the store's error; `store-failed` for errors of other libraries. */
  readonly cause: ErrorCode
  /** The store's last error. */
  readonly error: unknown
  /** Until the first probe. */
  readonly nextProbe: Millis
}

/**
 * A request goes to the store as a probe.
 *
 * @example
 * ```ts
 * const event: HalfOpenEvent = { type: 'half-open', at: 9000 }
 * ```
 */
export interface HalfOpenEvent {
  readonly type: 'half-open'
  readonly at: Millis
}

/**
 * The breaker closed: calls go to the store again.
 *
 * @example
 * ```ts
 * const event: ClosedEvent = { type: 'closed', at: 9000, openFor: 4000 }
 * ```
 */
export interface ClosedEvent {
  readonly type: 'closed'
  readonly at: Millis
  /** How long it was not closed. */
  readonly openFor: Millis
}

/**
 * One call was answered without the store.
 *
 * @example
 * ```ts
 * const event: FallbackEvent = { type: 'fallback', at: 9000, operation: 'take', cause: 'store-timeout' }
 * ```
 */
export interface FallbackEvent {
  readonly type: 'fallback'
  readonly at: Millis
  readonly operation: 'take' | 'peek' | 'refund'
  /** The code of the store's error; `store-failed` for errors of other libraries. */
  readonly cause: ErrorCode
}

/**
 * The store answered a check that had been given up and answered by the fallback.
 *
 * @example
 * ```ts
 * const event: LateAnswerEvent = { type: 'late-answer', at: 9000, refunded: true }
 * ```
 */
export interface LateAnswerEvent {
  readonly type: 'late-answer'
  readonly at: Millis
  /** Whether it had charged units, which are now being refunded. */
  readonly refunded: boolean
}

/**
 * Everything that {@link ResilienceOptions.onEvent} receives. `at` is this process's monotonic clock.
 *
 * @example
 * ```ts
 * const text = (event: ResilienceEvent) => `${event.type} at ${event.at}`
 * ```
 */
export type ResilienceEvent =
  | OpenedEvent
  | HalfOpenEvent
  | ClosedEvent
  | FallbackEvent
  | LateAnswerEvent

/**
 * Receives events. What it throws or rejects with is dropped: a broken listener must not refuse requests.
 *
 * @example
 * ```ts
 * const onEvent: OnEvent = (event) => {
 *   if (event.type === 'opened') notify('the store is unreachable', event.cause)
 * }
 * ```
 */
export type OnEvent = (event: ResilienceEvent) => void

/** One warning when the store is lost and one when it is back: a lost store is never silent. */
export const warnOfLostStore: OnEvent = (event) => {
  if (event.type !== 'opened' && event.type !== 'closed') return
  const warning =
    event.type === 'opened'
      ? `sluice: the store does not answer (${event.cause}); this process limits by itself until it does`
      : `sluice: the store answers again after ${Math.round(event.openFor / 100) / 10} s`
  // oxlint-disable-next-line no-console -- the default of `onEvent`: without a listener, the console is the only place.
  console.warn(warning)
}
