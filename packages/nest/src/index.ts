// Rate limiting for NestJS: a guard, decorators for controllers and their methods, and counts for @nestjs/throttler.
export { Cost, RateLimit, SkipRateLimit } from './decorators.ts'
export { RateLimitException } from './exception.ts'
export { rateLimit, RateLimitGuard } from './rate-limit-guard.ts'
export type { NestRequest, NestResponse } from './nest-adapter.ts'
export {
  throttlerStorage,
  type SluiceThrottlerStorage,
  type ThrottlerRecord,
  type ThrottlerStorageOptions,
} from './throttler-storage.ts'
