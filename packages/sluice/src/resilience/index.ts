// The public entry `sluice/resilience`: deadline, breaker and fallback around any limiter.
export type { BreakerOptions } from './breaker.ts'
export type {
  ClosedEvent,
  FallbackEvent,
  HalfOpenEvent,
  LateAnswerEvent,
  OnEvent,
  OpenedEvent,
  ResilienceEvent,
} from './events.ts'
export type { DeadlineOptions, EventOptions } from './options.ts'
export { resilient, type ResilientOptions } from './resilient.ts'
export { withBreaker } from './with-breaker.ts'
export { withDeadline } from './with-deadline.ts'
export { withFallback } from './with-fallback.ts'
