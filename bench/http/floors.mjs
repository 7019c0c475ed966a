// The least that a limiter can do: count in a Map by address, and write two header fields.

const POLICY = '"default";q=1000000000;w=60'

/** Counts, and gives the field of what is left. */
function counting() {
  /** @type {Map<string | undefined, number>} */
  const counts = new Map()
  return (/** @type {string | undefined} */ address, /** @type {number} */ quota) => {
    const count = (counts.get(address) ?? 0) + 1
    counts.set(address, count)
    return count > quota ? null : `"default";r=${quota - count};t=1`
  }
}

/** The floor of each framework. @type {Record<import('./frameworks.mjs').Framework, (quota: number) => any>} */
export const floors = {
  node(quota) {
    const take = counting()
    return (
      /** @type {any} */ request,
      /** @type {any} */ response,
      /** @type {() => void} */ next,
    ) => {
      const left = take(request.socket.remoteAddress, quota)
      if (left === null) return refuse(response)
      response.setHeader('RateLimit-Policy', POLICY)
      response.setHeader('RateLimit', left)
      next()
    }
  },
  fastify(quota) {
    const take = counting()
    return (/** @type {any} */ app) =>
      app.addHook(
        'onRequest',
        (/** @type {any} */ request, /** @type {any} */ reply, /** @type {() => void} */ done) => {
          const left = take(request.raw.socket.remoteAddress, quota)
          if (left === null) return void reply.code(429).send('')
          reply.header('RateLimit-Policy', POLICY)
          reply.header('RateLimit', left)
          done()
        },
      )
  },
  koa(quota) {
    const take = counting()
    return (/** @type {any} */ context, /** @type {() => Promise<void>} */ next) => {
      const left = take(context.req.socket.remoteAddress, quota)
      if (left === null) return void (context.status = 429)
      context.res.setHeader('RateLimit-Policy', POLICY)
      context.res.setHeader('RateLimit', left)
      return next()
    }
  },
  hono(quota) {
    const take = counting()
    return (/** @type {any} */ context, /** @type {() => Promise<void>} */ next) => {
      const { incoming, outgoing } = context.env
      const left = take(incoming.socket.remoteAddress, quota)
      if (left === null) return Promise.resolve(context.text('', 429))
      outgoing.setHeader('RateLimit-Policy', POLICY)
      outgoing.setHeader('RateLimit', left)
      return next()
    }
  },
  express: (quota) => floors.node(quota),
}

/** @param {import('node:http').ServerResponse} response */
function refuse(response) {
  response.statusCode = 429
  response.end()
}
