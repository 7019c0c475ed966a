// The least that a sub-request of nginx can be answered with: yes, and the two fields that it hands on.
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  request.resume()
  response.writeHead(200, {
    'ratelimit-policy': '"per-address";q=1000;w=3600',
    ratelimit: '"per-address";r=999999999;t=4',
    'content-length': 0,
  })
  response.end()
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`Listening for http on http://127.0.0.1:${port}`)
})
