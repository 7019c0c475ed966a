// An Express server: everything by address, and orders by user and route; `npm start` runs it.
import express from 'express'
import { createLimiter } from 'sluice'
import { rateLimit } from 'sluice/http/express'

const orders = createLimiter({
  policy: {
    name: 'orders',
    rules: [{ name: 'per-user', by: ['user', 'route'], limit: '3/min' }],
  },
})

const app = express()
// By address: five at once, then one every two seconds.
app.use(rateLimit({ limit: '5/10s' }))
app.get('/', (request, response) => {
  response.send('Hello.\n')
})
// On the route itself, where Express knows the template: all ids are one route.
app.get(
  '/orders/:id',
  rateLimit(orders, { user: (request) => request.headers['x-user']?.toString() }),
  (request, response) => {
    response.send(`Order ${request.params['id']}.\n`)
  },
)

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  const address = server.address()
  console.log(`Listening on http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
})
