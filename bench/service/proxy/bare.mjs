// The floor: a bare node:http proxy that passes requests on as they are, and counts nothing.
import { Agent, createServer, request } from 'node:http'

const { hostname, port } = new URL(process.argv[2] ?? '')
const agent = new Agent({ keepAlive: true, maxFreeSockets: 256 })
const server = createServer((incoming, response) => {
  const { method, url, rawHeaders } = incoming
  const target = { hostname, port, agent, method, path: url, headers: rawHeaders }
  const sent = request(target, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
    answer.pipe(response)
  })
  sent.on('error', () => response.destroy())
  incoming.pipe(sent)
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`Listening for proxy on http://127.0.0.1:${port}`)
})
