// What stands behind the proxies: answers at once, with a body of the size that the path names.
import { createServer } from 'node:http'

/** @type {Map<string, Buffer>} */
const bodies = new Map()
const server = createServer((request, response) => {
  const { url = '/0' } = request
  let body = bodies.get(url)
  if (body === undefined) bodies.set(url, (body = Buffer.alloc(Number(url.slice(1)), 'x')))
  request.resume()
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`Listening for upstream on http://127.0.0.1:${port}`)
})
