// A Koa server with its router, limited by address; `npm start` runs it.
import Router from '@koa/router'
import Koa from 'koa'
import { rateLimit } from 'sluice/http/koa'

const router = new Router()
router.get('/', (context) => {
  context.body = 'Hello.\n'
})

const app = new Koa()
// By address: five at once, then one every two seconds.
app.use(rateLimit({ limit: '5/10s' }))
app.use(router.routes())

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  const address = server.address()
  console.log(`Listening on http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
})
