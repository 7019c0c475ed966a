// A bare node:http server that parses each JSON body and sends it back, which is shorter than an answer of the service.
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const bytes = chunks.length === 1 ? /** @type {Buffer} */ (chunks[0]) : Buffer.concat(chunks)
    const text = JSON.stringify(JSON.parse(bytes.toString('utf8')))
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    })
    response.end(text)
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`Listening for http on http://127.0.0.1:${port}`)
})
