// rate-limiter-flexible: an awaited promise for yes, a rejected one for no.
import { RateLimiterMemory } from 'rate-limiter-flexible'

/** @param {import('../contenders.mjs').Settings} settings @returns {import('../contenders.mjs').Subject<string>} */
export function rateLimiterFlexible({ burst, window }) {
  const limiter = new RateLimiterMemory({ points: burst, duration: window / 1000 })
  return {
    async run(keys, order, from, to) {
      const mask = order.length - 1
      let allowed = 0
      for (let i = from; i < to; i++) {
        try {
          await limiter.consume(
            /** @type {string} */ (keys[/** @type {number} */ (order[i & mask])]),
          )
          allowed += 1
        } catch (refusal) {
          if (refusal instanceof Error) throw refusal
        }
      }
      return allowed
    },
    exhaust: (key) => limiter.penalty(key, burst),
  }
}
