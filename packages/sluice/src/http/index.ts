// What all adapters share: client addresses, keys, the policy of tiers, and the guard for adapters of one's own.
export {
  clientAddress,
  type Address,
  type AddressOptions,
  type ClientAddress,
} from './client-address.ts'
export type { ProxyPreset, TrustedProxies } from './proxies.ts'
export { apiKeyHash } from './subject.ts'
export { decisionOf, settle, Passage } from './passage.ts'
export { isProven, loginPolicy, prove, type LoginLimits } from './login-policy.ts'
export { tieredPolicy, type TieredLimits } from './tiered-policy.ts'
export { createGuard, type RateLimitOptions } from './create-guard.ts'
export type { Guard } from './guard.ts'
export type { Port } from './port.ts'
export type { Refusal } from './refusal.ts'
export type { ProblemDetails } from './problem.ts'
export type { AnyLimiter, Answered, HttpOptions, Identify } from './options.ts'
export { DIALECT_NAMES, headerFields, type DialectName, type Field } from './headers/dialects.ts'
export { retryAfterSeconds, type ReportedLimit } from './headers/dialect.ts'
export type { HttpWarning, HttpWarningCode } from './warnings.ts'
