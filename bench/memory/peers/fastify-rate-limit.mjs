// @fastify/rate-limit: its local store counts and calls back at once; the plugin compares.
import { createRequire } from 'node:module'
import { runOf } from '../contenders.mjs'

/** @typedef {{ current: number, ttl: number }} Count */

/** @param {import('../contenders.mjs').Settings} settings @returns {import('../contenders.mjs').Subject<string>} */
export function fastifyRateLimit({ burst, window, keys }) {
  const LocalStore = createRequire(import.meta.url)('@fastify/rate-limit/store/LocalStore.js')
  // It keeps 5,000 keys unless told otherwise, and forgets the rest however much they have used.
  const store = new LocalStore(false, false, Math.max(keys, 5000))
  /** @type {Count} */
  let count = { current: 0, ttl: 0 }
  const take = (/** @type {unknown} */ _error, /** @type {Count} */ result) => void (count = result)
  return {
    run: runOf((key) => {
      store.incr(key, take, window, burst)
      return count.current <= burst
    }),
    // It can only count one by one; the count is an object that it hands out.
    exhaust(key) {
      store.incr(key, take, window, burst)
      count.current = burst
    },
  }
}
