// The public entry `sluice/resilience`: deadline, breaker and fallback around any store, and a guard for any call.
export type { BreakerOptions, Failure } from './circuit-breaker.ts'
export type {
  ClosedEvent,
  FallbackEvent,
  HalfOpenEvent,
  LateAnswerEvent,
  OnEvent,
  OpenedEvent,
  ResilienceEvent,
} from './events.ts'
export { createCallGuard, type GuardedCalls, type GuardedCallsOptions } from './guarded-calls.ts'
export type { Environment, ResilienceOptions } from './options.ts'
export { withResilience } from './resilient-store.ts'
