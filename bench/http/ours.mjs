// Our adapters, with the header dialect and the store that a contender names.
import { Redis } from 'ioredis'
import { createLimiter } from 'sluice'
import { rateLimit as forExpress } from 'sluice/http/express'
import { rateLimit as forFastify } from 'sluice/http/fastify'
import { rateLimit as forHono } from 'sluice/http/hono'
import { rateLimit as forKoa } from 'sluice/http/koa'
import { rateLimit as forNode } from 'sluice/http/node'
import { redisStore } from 'sluice/redis'

/** Makes our middleware. @param {import('./frameworks.mjs').Framework} framework @param {any} headers */
export function ours(framework, headers) {
  return (/** @type {import('./contenders.mjs').Settings} */ { quota, redis }) => {
    const limit = { quota, window: 60_000, burst: quota }
    const limiter = createLimiter(
      redis === undefined ? { limit } : { limit, store: redisStore(new Redis(redis)) },
    )
    const options = { headers }
    if (framework === 'fastify') {
      const hook = forFastify(limiter, options)
      return (/** @type {any} */ app) => app.addHook('onRequest', hook)
    }
    /** @type {Record<string, (limiter: any, options: any) => any>} */
    const adapters = { node: forNode, koa: forKoa, hono: forHono, express: forExpress }
    return adapters[framework]?.(limiter, options)
  }
}
