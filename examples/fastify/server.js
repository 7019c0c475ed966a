// A Fastify server, limited by address in one hook; `npm start` runs it.
import Fastify from 'fastify'
import { rateLimit } from 'sluice/http/fastify'

const app = Fastify()
// By address: five at once, then one every two seconds. Added first, it counts 404s too.
app.addHook('onRequest', rateLimit({ limit: '5/10s' }))
app.get('/', () => 'Hello.\n')

console.log(
  `Listening on ${await app.listen({ port: Number(process.env['PORT'] ?? 3000), host: '127.0.0.1' })}`,
)
