// A plain Node server with the adapter for node:http; `npm start` runs it.
import { createServer } from 'node:http'
import { rateLimit } from 'sluice/http/node'

// By address: five at once, then one every two seconds.
const limit = rateLimit({ limit: '5/10s' })

const server = createServer((request, response) => {
  limit(request, response, () => {
    response.end('Hello.\n')
  })
})

server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  const address = server.address()
  console.log(`Listening on http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
})
