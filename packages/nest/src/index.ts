// Rate limiting for NestJS: a guard, and decorators for controllers and their methods.
export { Cost, RateLimit, SkipRateLimit } from './decorators.ts'
export { RateLimitException } from './exception.ts'
export { rateLimit, RateLimitGuard } from './rate-limit-guard.ts'
export type { NestRequest, NestResponse } from './nest-adapter.ts'
