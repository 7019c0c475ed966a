// The public entry `sluice/client`: for programs that call limited services.
export { adaptive, type AdaptiveFetch, type AdaptiveOptions } from './adaptive.ts'
export { politeAxios, type AxiosConfigLike, type AxiosResponseLike } from './axios.ts'
export { backoff, type BackoffOptions } from './backoff.ts'
export { politeGot, type GotRetry, type PoliteGotOptions } from './got.ts'
export { hintOf, type Hint } from './hints/hint.ts'
export type { HeaderReader, Quota } from './hints/quota.ts'
export { politeKy, type PoliteKyOptions } from './ky.ts'
export type {
  GiveUpEvent,
  GiveUpReason,
  PoliteOptions,
  RetryEvent,
  WaitEvent,
} from './polite-options.ts'
export { paced, type Paced, type PacedOptions, type WrapOptions } from './paced.ts'
export { polite, type Fetch } from './polite.ts'
export { remoteLimiter, type RemoteLimiter, type RemoteLimiterOptions } from './remote-limiter.ts'
export type { RequestTarget, KeyChoice } from './request-key.ts'
export { retryBudget, type RetryBudget, type RetryBudgetOptions } from './retry-budget.ts'
export type { ClientTimers } from './timers.ts'
export { politeUndici } from './undici.ts'
