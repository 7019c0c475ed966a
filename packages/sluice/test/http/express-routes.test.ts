// What Express tells of its routes, when, and what enters a key.
import express from 'express'
import express4 from 'express4'
import { describe, expect, it } from 'vitest'
import { rateLimit } from '../../src/http/express.ts'
import type { AnyLimiter, HttpOptions } from '../../src/http/index.ts'
import { createLimiter } from '../../src/limiter/create-limiter.ts'
import type { Attributes, Rule } from '../../src/policy/policy.ts'
import { listening } from './serving.ts'

const rules: readonly Rule[] = [{ name: 'route', by: ['ip', 'route'], limit: '1000/min' }]

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
])('%s', (_, make) => {
  /** The routes that a limiter is asked about for some paths, and the warnings. */
  async function asked(
    build: (app: express.Express, limit: express.RequestHandler) => void,
    paths: readonly string[],
    options: HttpOptions<express.Request, express.Response> = {},
  ): Promise<{ routes: unknown[]; codes: string[] }> {
    const routes: unknown[] = []
    const codes: string[] = []
    const limiter = createLimiter({ policy: { name: 'a', rules } })
    const check = limiter.check.bind(limiter)
    limiter.check = (attributes, cost) => {
      routes.push((attributes as Attributes)['route'])
      return check(attributes, cost)
    }
    const app = make()
    const onWarning = ({ code }: { code: string }): void => void codes.push(code)
    build(
      app,
      rateLimit(limiter as AnyLimiter, { onWarning, ...options }) as express.RequestHandler,
    )
    const url = await listening(app as never)
    for (const path of paths) await (await fetch(url + path)).text()
    return { routes, codes }
  }
  const answer: express.RequestHandler = (__, response) => void response.send('ok')

  it('tells the template on the route, however the path is spelled', async () => {
    const build = (app: express.Express, limit: express.RequestHandler): void =>
      void app.get('/orders/:id', limit, answer)
    const paths = ['/orders/1', '/ORDERS/2', '/orders/3/', '/%6Frders/4', '/orders/%35?id=6']
    const { routes, codes } = await asked(build, paths)
    expect([...new Set(routes)]).toEqual(['/orders/:id'])
    expect(routes.length).toBeGreaterThanOrEqual(4)
    expect(codes).toEqual([])
  })

  it('knows no route before routing: one template, and one warning', async () => {
    const build = (app: express.Express, limit: express.RequestHandler): void =>
      void app.use(limit).get('/orders/:id', answer)
    expect(await asked(build, ['/orders/1', '/orders/2', '/x'])).toEqual({
      routes: ['*unmatched', '*unmatched', '*unmatched'],
      codes: ['route-unknown'],
    })
  })

  it('takes declared routes before routing', async () => {
    const build = (app: express.Express, limit: express.RequestHandler): void =>
      void app.use(limit).get('/orders/:id', answer)
    expect(
      await asked(build, ['/orders/1', '/Orders//2/', '/x'], { routes: ['/orders/{id}'] }),
    ).toEqual({
      routes: ['/orders/{id}', '/orders/{id}', '*unmatched'],
      codes: [],
    })
  })

  const mounted = (app: express.Express, limit: express.RequestHandler): void => {
    const router = make.Router()
    router.get('/orders/:order', limit, answer)
    app.use('/users/:user', router)
  }

  it('never lets the ids of a mount path into a key', async () => {
    expect(await asked(mounted, ['/users/ann/orders/1', '/users/bob/orders/2'])).toEqual({
      routes: ['*/orders/:order', '*/orders/:order'],
      codes: ['mount-unknown'],
    })
  })

  it.each([
    ['the mount', ['/users/{user}'], '/users/{user}/orders/:order'],
    ['the whole route', ['/users/{user}/orders/{order}'], '/users/{user}/orders/{order}'],
  ])('has whole templates when %s is declared', async (__, routes, template) => {
    expect(
      await asked(mounted, ['/users/ann/orders/1', '/users/bob/orders/2'], { routes }),
    ).toEqual({
      routes: [template, template],
      codes: [],
    })
  })
})
