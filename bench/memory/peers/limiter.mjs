// limiter: has no keys of its own, so that users hold a Map of limiters.
import { RateLimiter } from 'limiter'
import { runOf } from '../contenders.mjs'

/** @typedef {import('../contenders.mjs').Settings} Settings */
/** @typedef {import('../contenders.mjs').Subject<string>} Subject */

/** @param {Settings} settings */
function limitersFor({ burst, window }) {
  /** @type {Map<string, RateLimiter>} */
  const limiters = new Map()
  return (/** @type {string} */ key) => {
    let limiter = limiters.get(key)
    if (limiter === undefined) {
      limiter = new RateLimiter({
        tokensPerInterval: burst,
        interval: window,
        fireImmediately: true,
      })
      limiters.set(key, limiter)
    }
    return limiter
  }
}

/** Takes the rest of the interval's allowance, which time does not refill. @param {RateLimiter} limiter @param {Settings} settings */
function exhaust(limiter, { burst }) {
  limiter.tryRemoveTokens(burst - limiter.tokensThisInterval)
}

/** @param {Settings} settings @returns {Subject} */
export function tryRemoveTokens(settings) {
  const limiterOf = limitersFor(settings)
  return {
    run: runOf((key) => limiterOf(key).tryRemoveTokens(1)),
    exhaust: (key) => exhaust(limiterOf(key), settings),
  }
}

/** @param {Settings} settings @returns {Subject} */
export function removeTokens(settings) {
  const limiterOf = limitersFor(settings)
  return {
    async run(keys, order, from, to) {
      const mask = order.length - 1
      let allowed = 0
      for (let i = from; i < to; i++) {
        const key = /** @type {string} */ (keys[/** @type {number} */ (order[i & mask])])
        if ((await limiterOf(key).removeTokens(1)) >= 0) allowed += 1
      }
      return allowed
    },
    exhaust: (key) => exhaust(limiterOf(key), settings),
  }
}
