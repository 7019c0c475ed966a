// A Nest application: one limit for all, a tighter one for logins, dear requests and free ones.
// After `npm run build`, `node examples/nest/server.js` runs it.
import 'reflect-metadata'
import { pathToFileURL } from 'node:url'
import { Controller, Get, Module, Post } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Cost, RateLimit, rateLimit, SkipRateLimit } from '@sluice/nest'
import { decorate } from './decorate.js'

class Orders {
  list() {
    return ['one', 'two']
  }
  report() {
    return 'a long report'
  }
  login() {
    return 'welcome'
  }
  health() {
    return 'well'
  }
}

// In TypeScript these stand above the class and its methods: @Controller(), @Get('report') @Cost(3), …
decorate(Orders, [Controller()], {
  list: [Get('orders')],
  report: [Get('report'), Cost(3)],
  login: [Post('login'), RateLimit({ limit: '2/min' })],
  health: [Get('health'), SkipRateLimit()],
})

class App {}
decorate(App, [Module({ controllers: [Orders] })])

/** Starts the application on a port. @param {number} port */
export async function start(port) {
  const app = await NestFactory.create(App, { logger: ['error'], forceCloseConnections: true })
  app.useGlobalGuards(rateLimit({ limit: '5/10s' }))
  await app.listen(port, '127.0.0.1')
  return app
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const app = await start(Number(process.env['PORT'] ?? 3000))
  console.log(`Listening on ${await app.getUrl()}. Ctrl+C ends it.`)
}
