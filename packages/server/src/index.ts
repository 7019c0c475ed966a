// The public entry of the service.
export { visible } from './log/client-text.ts'
export type {
  Config,
  EnvoyConfig,
  FailureConfig,
  HttpListenerConfig,
  ListenerConfig,
  ListenersConfig,
  MemoryStoreConfig,
  RedisStoreConfig,
  ShutdownConfig,
  StoreConfig,
  TlsConfig,
} from './config/config.ts'
export { VARIABLES, type Environment, type Variable } from './config/environment.ts'
export { loadConfig, type LoadedConfig, type LocatedConfig } from './config/load-config.ts'
export { loadForStart } from './review/load-for-start.ts'
export { promoteRule, PromotionError } from './config/promote-rule.ts'
export { problemText, type ConfigProblem } from './config/problem.ts'
export { readConfig, type ConfigResult } from './config/read-config.ts'
export { ignoredVariables, ratelimitConfig } from './envoy/ratelimit-environment.ts'
export type { Limiters, LimiterSource, ServiceLimiter } from './limiters/limiters.ts'
export type { ReloadResult } from './reload/reloader.ts'
export type { WatchOptions } from './reload/watch-file.ts'
export { describePolicy } from './review/describe.ts'
export { describeDomain } from './review/describe-domain.ts'
export { reviewFile, reviewText, type ConfigWarning, type Review } from './review/review.ts'
export type { WarningCode } from './review/warning.ts'
export { bannerText } from './service/banner.ts'
export type { Listener } from './net/listener.ts'
export type { ServiceContext } from './limiters/limiters.ts'
export { createLog, type Log, type LogLevel } from './log/log.ts'
export { startService, type Service, type ServiceOptions } from './service/service.ts'
export { startWorkers, type WorkersService } from './workers/primary.ts'
