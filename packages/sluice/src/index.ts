// The public entry of the library.
export { helpAt, SluiceError, type ErrorCode, type SluiceErrorOptions } from './errors.ts'
export type { CalendarUnit, Weekday } from './time/calendar.ts'
export { systemClock, type Clock, type Millis } from './time/clock.ts'
export { duration, type Duration, type DurationText } from './time/duration.ts'
export {
  ALGORITHMS,
  limit,
  limitText,
  type AlgorithmName,
  type Limit,
  type LimitFields,
  type LimitInput,
  type LimitOptions,
  type RateText,
} from './limit/limit.ts'
export type { OnStoreFailure, Source, Verdict } from './limit/verdict.ts'
export { valuesIn } from './key/key.ts'
export {
  definePolicy,
  type AttributesNamed,
  type ConditionOn,
  type TypedPolicy,
  type TypedRule,
} from './policy/define-policy.ts'
export { parsePolicy } from './policy/parse.ts'
export { placesOf, type Place } from './policy/places.ts'
export type {
  Attributes,
  Condition,
  LimitFunction,
  LimitOrNone,
  Lockout,
  OnExceed,
  Override,
  Pattern,
  PatternObject,
  Policy,
  PolicyInCode,
  Pool,
  Rule,
  RuleInCode,
  Tiers,
} from './policy/policy.ts'
export type {
  Candidate,
  Decision,
  Outcome,
  Reason,
  RuleDescription,
  Skipped,
} from './decision/decision.ts'
export {
  decide,
  peekDecision,
  type DecideOptions,
  type DecisionRequest,
  type IdentifyRefusal,
  type OnDecision,
} from './decision/decide.ts'
export {
  watchThresholds,
  type OnSettled,
  type SettledCheck,
  type ThresholdEvent,
  type ThresholdWatch,
} from './decision/thresholds.ts'
export { closestName } from './options/suggest.ts'
export { visibleOutcomes, type RuleCheck, type VisibleOutcome } from './decision/lazy-decision.ts'
export { explain, waitText } from './decision/explain.ts'
export {
  memoryStore,
  type MemoryStore,
  type MemoryStoreKeys,
  type MemoryStoreOptions,
  type MemoryStoreStats,
} from './stores/memory/memory-store.ts'
export {
  isPromise,
  type AsyncStore,
  type Check,
  type FastPath,
  type LeasePath,
  type FastStore,
  type KnownRefusal,
  type MaybePromise,
  type RemoteStore,
  type Store,
  type StoreEvent,
  type SyncStore,
  type TakeOutput,
} from './stores/store.ts'
export {
  createLimiter,
  type LimiterFor,
  type LimiterOptions,
  type LimiterSettings,
  type LimitOption,
  type PolicyOption,
} from './limiter/create-limiter.ts'
export type { LimiterControls, LiveControl } from './limiter/controls.ts'
export type { LimiterWarning } from './limiter/skipped-rules.ts'
export { matchPolicy, type PolicyMatcher } from './limiter/match-policy.ts'
export type { ResilienceOptions } from './resilience/options.ts'
export type { ResilienceEvent } from './resilience/events.ts'
export type { Limiter, PaidPools, SyncLimiter } from './limiter/limiter.ts'
export type { TypedLimiter, TypedSyncLimiter } from './limiter/typed-limiter.ts'
