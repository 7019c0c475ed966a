// One route that says hello, in each framework, behind a middleware or none; each gives Node's request listener.
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'

/** @typedef {import('node:http').RequestListener} Listener */
/** @typedef {'node' | 'fastify' | 'koa' | 'hono' | 'express'} Framework */

/** What stands before the route: the framework's own kind of middleware, for Fastify a function of the application; null for nothing. @typedef {any} Use */

/** @type {Record<Framework, (use: Use) => Promise<Listener>>} */
export const frameworks = {
  async node(use) {
    /** @type {Listener} */
    const hello = (_request, response) => {
      response.setHeader('Content-Type', 'text/plain')
      response.end('hello')
    }
    if (use === null) return hello
    return (request, response) => use(request, response, () => hello(request, response))
  },

  async fastify(use) {
    const app = Fastify()
    if (use !== null) await use(app)
    app.get('/hello', (_, reply) => {
      void reply.send('hello')
    })
    await app.ready()
    return (request, response) => app.routing(request, response)
  },

  async koa(use) {
    const app = new Koa()
    if (use !== null) app.use(use)
    app.use((context) => {
      context.body = 'hello'
    })
    const callback = app.callback()
    return (request, response) => void callback(request, response)
  },

  async hono(use) {
    const app = new Hono()
    if (use !== null) app.use(use)
    app.get('/hello', (context) => context.text('hello'))
    const listener = getRequestListener(app.fetch)
    return (request, response) => void listener(request, response)
  },

  async express(use) {
    const app = express()
    app.disable('x-powered-by')
    if (use !== null) app.use(use)
    app.get('/hello', (_, response) => void response.send('hello'))
    return app
  },
}

/** Serves a listener on a free port. @param {Listener} listener @param {string} host @returns {Promise<import('node:http').Server>} */
export function serve(listener, host) {
  return new Promise((resolve) => {
    const server = createServer(listener).listen(0, host, () => resolve(server))
  })
}
