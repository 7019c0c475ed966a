// What all adapters share: client addresses, keys, the policy of tiers, and the guard for adapters of one's own.
export {
  clientAddress,
  type Address,
  type AddressOptions,
  type ClientAddress,
} from './client-address.ts'
export type { ProxyPreset, TrustedProxies } from './trusted-proxies.ts'
export { apiKeyHash } from './attributes.ts'
export { decisionOf, settle, Admission } from './admission.ts'
export { isProven, loginPolicy, prove, type LoginLimits } from './login-policy.ts'
export { tieredPolicy, type TieredLimits } from './tiered-policy.ts'
export { createRequestGuard, type RateLimitOptions } from './create-request-guard.ts'
export type { RequestGuard } from './request-guard.ts'
export type { FrameworkAdapter } from './framework-adapter.ts'
export type { RefusalReply } from './refusal-reply.ts'
export type { ProblemDetails } from './problem.ts'
export type { AnyLimiter, Answered, HttpOptions, Identify } from './options.ts'
export { DIALECT_NAMES, headerFields, type DialectName, type Field } from './headers/dialects.ts'
export { retryAfterSeconds, type ReportedLimit } from './headers/dialect.ts'
export type { HttpWarning, HttpWarningCode } from './warnings.ts'
