// The public entry of the service.
export type { Limiters, LimiterSource, ServiceLimiter } from './limiters/limiters.ts'
export type { Listener, ServiceContext } from './service/listener.ts'
