// rate-limiter-flexible: an awaited promise for yes, a rejected one for no.
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { ioredis } from '../clients.mjs'

/** @param {import('../contenders.mjs').Settings} settings @returns {Promise<import('../contenders.mjs').Subject<string>>} */
export async function rateLimiterFlexible({ url, burst, window }) {
  const limiter = new RateLimiterRedis({
    storeClient: await ioredis(url),
    points: burst,
    duration: window / 1000,
  })
  return {
    async decide(key) {
      try {
        await limiter.consume(key)
        return true
      } catch (refusal) {
        if (refusal instanceof Error) throw refusal
        return false
      }
    },
  }
}
