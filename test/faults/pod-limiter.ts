// The limiter of the lab: one limit for every key, by a round trip each or by leases.
import { withCoordination } from '../../packages/sluice/src/coordination/index.ts'
import {
  createLimiter,
  type Limiter,
  type ResilienceOptions,
} from '../../packages/sluice/src/index.ts'
import { redisStore, type RedisClient } from '../../packages/sluice/src/redis/index.ts'
import type { Orders } from './orders.ts'

/** Milliseconds for which units are leased: a server that was started leases nothing for as long. */
export const LEASE_LIFE = 500

/** A limiter by the orders of a pod. */
export function limiterBy(
  { prefix, quota, window, isLeased }: Orders,
  client: RedisClient,
  timeout: number,
  resilience: ResilienceOptions | false,
): Limiter {
  const store = redisStore(client, { prefix, timeout })
  const limit = { quota, window }
  if (isLeased !== true) return createLimiter({ limit, store, resilience })
  const rule = { name: 'all', by: ['key'], limit, coordination: 'leased' } as const
  return createLimiter({
    policy: { name: 'lab', rules: [rule] },
    store: withCoordination(store, { life: LEASE_LIFE }),
    resilience,
  })
}
