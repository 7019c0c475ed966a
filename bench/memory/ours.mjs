// Sluice as applications call it.
import { createLimiter, limit, memoryStore } from 'sluice'
import { runOf } from './contenders.mjs'

/** @typedef {import('./contenders.mjs').Settings} Settings */

/** @param {Settings} settings @param {import('sluice').AlgorithmName} algorithm */
function limitFor({ burst, quota, window }, algorithm) {
  return algorithm.endsWith('-window')
    ? limit({ algorithm, window, quota: burst })
    : limit({ algorithm, window, quota, burst })
}

/** One limit, the answer read as yes or no. @param {import('sluice').AlgorithmName} algorithm */
export const oneLimit = (algorithm) => (/** @type {Settings} */ settings) => {
  const limiter = createLimiter({ limit: limitFor(settings, algorithm) })
  return {
    run: runOf((/** @type {string} */ key) => limiter.check(key).allowed),
    exhaust: (/** @type {string} */ key) => limiter.check(key, limiter.check(key).remaining),
  }
}

/** A sliding log that keeps 32 instants, whatever the quota. @param {Settings} settings */
export function stampedLog({ burst, window }) {
  const limiter = createLimiter({
    limit: { algorithm: 'sliding-log', window, quota: burst, stamps: 32 },
  })
  return {
    run: runOf((/** @type {string} */ key) => limiter.check(key).allowed),
    exhaust: (/** @type {string} */ key) => limiter.check(key, limiter.check(key).remaining),
  }
}

/** One limit, and of every decision also what goes into response headers. @param {Settings} settings */
export function oneLimitRead(settings) {
  const limiter = createLimiter({ limit: limitFor(settings, 'token-bucket') })
  return {
    run: runOf((/** @type {string} */ key) => {
      const { allowed, remaining, resetAfter } = limiter.check(key)
      // Both are always true; that is for the reader, and the compiler cannot know it.
      return allowed && remaining >= 0 && resetAfter >= 0
    }),
    exhaust: (/** @type {string} */ key) => limiter.check(key, limiter.check(key).remaining),
  }
}

/** A policy by user, by address, and by route and user. @param {Settings} settings */
export function threeRules(settings) {
  const each = limitFor(settings, 'token-bucket')
  const limiter = createLimiter({
    policy: {
      name: 'api',
      rules: [
        { name: 'user', by: ['user'], limit: each },
        { name: 'address', by: ['ip'], limit: each },
        { name: 'route', by: ['route', 'user'], limit: each },
      ],
    },
    store: memoryStore({ maxKeys: 3 * settings.keys }),
  })
  return {
    run: runOf((/** @type {ReturnType<typeof requestOf>} */ { user, ip, route }) => {
      return limiter.check({ user, ip, route }).allowed
    }),
    exhaust: (/** @type {ReturnType<typeof requestOf>} */ request) =>
      limiter.check(request, limiter.check(request).remaining),
    prepare: requestOf,
  }
}

/** A request whose user, address and route all follow from the key. @param {string} key */
function requestOf(key) {
  const number = Number.parseInt(key.slice(-8), 16)
  const bytes = [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255]
  return { user: key, ip: bytes.join('.'), route: `GET /v1/orders/${number % 8}` }
}
