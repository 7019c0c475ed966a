// Leaky bucket as a queue: what is allowed goes on at an even pace of `quota` units per window, each
// request held until the work in front of it has drained. `burst` counts everything in the bucket,
// the unit being served included, so a burst of 1 never holds anything. Idle time is not saved up.
import type { Millis } from '../time/clock.ts'
import type { Algorithm, LimitNumbers, State } from './algorithm.ts'
import { ceilDiv } from './arithmetic.ts'
import * as bucket from './bucket.ts'

function delay(limit: LimitNumbers, state: State, cost: number, now: Millis): Millis {
  const ahead = Math.min(state.used, limit.burst * limit.window) - cost * limit.window
  return ahead > 0 ? Math.max(0, state.at - now + ceilDiv(ahead, limit.quota)) : 0
}

export const leakyBucket: Algorithm = { ...bucket, delay }
