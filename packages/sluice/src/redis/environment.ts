// The clock, the timers and the random delays of the Redis store, which simulations replace.
import { systemClock, type Clock, type Millis } from '../time/clock.ts'
import { systemTimers, type Timers } from '../time/timers.ts'
import { reconnectDelay } from './reconnect-delay.ts'

/** What the store needs of the runtime. */
export interface RedisEnvironment {
  readonly clock: Clock
  readonly timers: Timers
  /** Milliseconds until the attempt of that number to open a second connection, twice over. */
  readonly reconnectDelay: (attempt: number) => Millis
}

/** The runtime's own. */
export const systemRedisEnvironment: RedisEnvironment = {
  clock: systemClock,
  timers: systemTimers,
  reconnectDelay,
}
