// A Hono server on Node, limited by address; `npm start` runs it.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { rateLimit } from 'sluice/http/hono'

const app = new Hono()
// By address: five at once, then one every two seconds.
app.use(rateLimit({ limit: '5/10s' }))
app.get('/', (context) => context.text('Hello.\n'))

const port = Number(process.env['PORT'] ?? 3000)
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, (address) => {
  console.log(`Listening on http://127.0.0.1:${address.port}`)
})
