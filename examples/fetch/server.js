// A handler from Request to Response, as Workers, Deno, Bun and Next have them; `npm start` runs it on Node.
import { serve } from '@hono/node-server'
import { rateLimit } from 'sluice/http/fetch'

// By address: five at once, then one every two seconds. Node, Deno and Bun tell the address; on Workers, add
// address: (request) => request.headers.get('cf-connecting-ip') ?? undefined.
const limit = rateLimit({ limit: '5/10s' })

const handler = limit(() => new Response('Hello.\n'))

const port = Number(process.env['PORT'] ?? 3000)
serve({ fetch: handler, port, hostname: '127.0.0.1' }, (address) => {
  console.log(`Listening on http://127.0.0.1:${address.port}`)
})
