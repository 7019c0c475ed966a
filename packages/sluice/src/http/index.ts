// What all adapters share: client addresses, identities, ready-made policies, header fields, and the guard for adapters of your own.
export {
  clientAddress,
  type Address,
  type AddressOptions,
  type ClientAddress,
} from './client-address.ts'
export { addressProblem, type CountedBits } from './address-conditions.ts'
export { hiddenRoute, isRoutePattern, methodName } from './routes.ts'
export type { ProxyPreset, TrustedProxies } from './trusted-proxies.ts'
export { apiKeyHash, fromHeader } from './identity.ts'
export { Admission, decisionOf, settle } from './admission.ts'
export { isProven, loginPolicy, prove, type LoginLimits } from './login-policy.ts'
export { tieredPolicy, type TieredLimits } from './tiered-policy.ts'
export { createRequestGuard, type RateLimitOptions } from './create-request-guard.ts'
export { MAX_TIMER_MS } from '../time/timers.ts'
export { hold, holdUntilClosed, type Closable } from './hold.ts'
export {
  leaveWhenClosed,
  leaveWhenRead,
  onEnd,
  type Ending,
  type Leavable,
} from './leave-when-closed.ts'
export type { AnyBudget, HeldRequest } from './held-requests.ts'
export { limiterWith } from './limiter-with.ts'
export { nodeAdapter, readingNode, type NodeRequest, type NodeResponse } from './node-adapter.ts'
export type { RefusalAction } from './refusal-action.ts'
export type { RequestGuard } from './request-guard.ts'
export { frameworkTrustsAll } from './framework-trust.ts'
export type { FrameworkAdapter } from './framework-adapter.ts'
export { retryAfterSeconds, type RefusalReply } from './refusal-reply.ts'
export type { ProblemDetails } from './problem.ts'
export type {
  AddressFunction,
  AnyLimiter,
  Answered,
  CustomReply,
  HttpOptions,
  Identify,
  OnRefusedResult,
} from './options.ts'
export { DIALECT_NAMES, headerFields, type DialectName, type Field } from './headers/dialects.ts'
export type { FieldAccess, ReportedLimit } from './headers/dialect.ts'
export type { HttpWarning, HttpWarningCode } from './warnings.ts'
