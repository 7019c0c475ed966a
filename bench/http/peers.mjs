// The peers as their documentation shows them, never refusing: each makes the middleware of its framework.
import fastifyRateLimit from '@fastify/rate-limit'
import { rateLimit as expressRateLimit } from 'express-rate-limit'
import { rateLimiter as honoRateLimiter, RedisStore as HonoRedisStore } from 'hono-rate-limiter'
import { Redis } from 'ioredis'
// @ts-expect-error -- it has no types
import koaRateLimit from 'koa-ratelimit'
import { RedisStore as ExpressRedisStore } from 'rate-limit-redis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'

/** @typedef {import('./contenders.mjs').Settings} Settings */

const WINDOW = 60_000
const quiet = { validate: false }

/** @param {'draft-8' | undefined} dialect */
export const forExpress =
  (dialect) =>
  (/** @type {Settings} */ { quota, redis }) =>
    expressRateLimit({
      windowMs: WINDOW,
      limit: quota,
      ...quiet,
      ...(dialect === undefined ? {} : { standardHeaders: dialect, legacyHeaders: false }),
      ...(redis === undefined
        ? {}
        : { store: new ExpressRedisStore({ sendCommand: sender(redis) }) }),
    })

/** @param {Settings} settings */
export const forFastify =
  ({ quota, redis }) =>
  (/** @type {any} */ app) =>
    app.register(fastifyRateLimit, {
      max: quota,
      timeWindow: WINDOW,
      ...(redis === undefined ? {} : { redis: new Redis(redis) }),
    })

/** @param {Settings} settings */
export const forHono = ({ quota, redis }) =>
  honoRateLimiter({
    windowMs: WINDOW,
    limit: quota,
    keyGenerator: (/** @type {any} */ context) => context.env.incoming.socket.remoteAddress,
    ...(redis === undefined ? {} : { store: new HonoRedisStore({ client: honoClient(redis) }) }),
  })

/** @param {Settings} settings */
export const forKoa = ({ quota, redis }) =>
  koaRateLimit({
    driver: redis === undefined ? 'memory' : 'redis',
    db: redis === undefined ? new Map() : new Redis(redis),
    duration: WINDOW,
    max: quota,
    id: (/** @type {any} */ context) => context.ip,
  })

/** rate-limiter-flexible writes no fields; its documentation shows how to write these. @param {'node' | 'express' | 'koa'} framework */
export const flexible =
  (framework) =>
  (/** @type {Settings} */ { quota, redis }) => {
    const options = { points: quota, duration: WINDOW / 1000 }
    const limiter =
      redis === undefined
        ? new RateLimiterMemory(options)
        : new RateLimiterRedis({ ...options, storeClient: new Redis(redis) })
    /** @param {any} response @param {any} result */
    const write = (response, { remainingPoints, msBeforeNext }) => {
      response.setHeader('X-RateLimit-Limit', quota)
      response.setHeader('X-RateLimit-Remaining', remainingPoints)
      response.setHeader('X-RateLimit-Reset', Math.ceil((Date.now() + msBeforeNext) / 1000))
    }
    if (framework === 'koa')
      return async (/** @type {any} */ context, /** @type {() => Promise<void>} */ next) => {
        const result = await limiter.consume(context.ip).catch(() => null)
        if (result === null) return void (context.status = 429)
        write(context.res, result)
        await next()
      }
    return (
      /** @type {any} */ request,
      /** @type {any} */ response,
      /** @type {() => void} */ next,
    ) => {
      const refuse = () => {
        response.statusCode = 429
        response.end()
      }
      limiter.consume(request.ip ?? request.socket.remoteAddress).then((result) => {
        write(response, result)
        // oxlint-disable-next-line promise/no-callback-in-promise -- as its documentation has it
        next()
      }, refuse)
    }
  }

/** @param {string} url @returns {any} */
function sender(url) {
  const client = new Redis(url)
  return (/** @type {string[]} */ command, /** @type {string[]} */ ...rest) =>
    client.call(/** @type {any} */ (command), ...rest)
}

/** @param {string} url @returns {any} */
function honoClient(url) {
  const client = new Redis(url)
  return {
    scriptLoad: (/** @type {string} */ text) => client.script('LOAD', text),
    evalsha: (
      /** @type {string} */ sha,
      /** @type {string[]} */ keys,
      /** @type {string[]} */ args,
    ) => client.evalsha(sha, keys.length, ...keys, ...args),
    decr: (/** @type {string} */ key) => client.decr(key),
    del: (/** @type {string} */ key) => client.del(key),
  }
}
