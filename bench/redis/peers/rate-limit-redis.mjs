// rate-limit-redis, the store of express-rate-limit: it counts, and the middleware compares.
import { RedisStore } from 'rate-limit-redis'
import { ioredis } from '../clients.mjs'

/** @param {import('../contenders.mjs').Settings} settings @returns {Promise<import('../contenders.mjs').Subject<string>>} */
export async function rateLimitRedis({ url, burst, window }) {
  const client = await ioredis(url)
  const store = new RedisStore({
    sendCommand: (/** @type {string} */ command, /** @type {string[]} */ ...args) =>
      /** @type {Promise<any>} */ (client.call(command, ...args)),
  })
  await store.init(/** @type {any} */ ({ windowMs: window }))
  return {
    decide: (key) => store.increment(key),
    isAllowed: (/** @type {{ totalHits: number }} */ { totalHits }) => totalHits <= burst,
  }
}
