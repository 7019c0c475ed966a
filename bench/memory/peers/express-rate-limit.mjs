// express-rate-limit: its store counts, and the middleware compares the count with the limit.
import { MemoryStore } from 'express-rate-limit'

/** @param {import('../contenders.mjs').Settings} settings @returns {import('../contenders.mjs').Subject<string>} */
export function expressRateLimit({ burst, window }) {
  const store = new MemoryStore()
  store.init(/** @type {any} */ ({ windowMs: window }))
  return {
    async run(keys, order, from, to) {
      const mask = order.length - 1
      let allowed = 0
      for (let i = from; i < to; i++) {
        const key = /** @type {string} */ (keys[/** @type {number} */ (order[i & mask])])
        const { totalHits } = await store.increment(key)
        if (totalHits <= burst) allowed += 1
      }
      return allowed
    },
    // It can only count one by one; the count is an object that it hands out.
    exhaust: async (key) => ((await store.increment(key)).totalHits = burst),
  }
}
