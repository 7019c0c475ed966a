// @fastify/rate-limit: its Redis store counts and calls back; the plugin compares.
import { createRequire } from 'node:module'
import { ioredis } from '../clients.mjs'

/** @typedef {{ current: number, ttl: number }} Count */

/** @param {import('../contenders.mjs').Settings} settings @returns {Promise<import('../contenders.mjs').Subject<string>>} */
export async function fastifyRateLimit({ url, burst, window }) {
  const RedisStore = createRequire(import.meta.url)('@fastify/rate-limit/store/RedisStore.js')
  const store = new RedisStore(false, false, await ioredis(url))
  return {
    decide: (key) =>
      new Promise((resolve, reject) => {
        const take = (/** @type {Error | null} */ error, /** @type {Count} */ count) =>
          error ? reject(error) : resolve(count.current <= burst)
        store.incr(key, take, window, burst)
      }),
  }
}
