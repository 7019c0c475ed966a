// A plain Node server, limited by address in five lines of Sluice, marked 1 to 5.
// After `npm run build`, `node examples/five-lines/server.js` runs it.
import { createServer } from 'node:http'
import { createLimiter } from 'sluice' // 1

const limiter = createLimiter({ limit: '5/10s' }) // 2: five at once, then one every two seconds

const server = createServer((request, response) => {
  const decision = limiter.check(request.socket.remoteAddress ?? 'no address') // 3
  if (!decision.allowed) {
    const seconds = decision.retryAfter && Math.ceil(decision.retryAfter / 1000) // 4: null if no wait helps
    response.writeHead(429, seconds ? { 'Retry-After': seconds } : {}) // 5
    response.end(seconds ? `Refused. Try again in ${seconds} s.\n` : 'Refused.\n')
    return
  }
  response.end(`Hello. ${decision.remaining} more at once.\n`)
})

const port = process.env['PORT'] ?? '3000'

server.on('listening', () => {
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`
  console.log(`Listening on ${url}

Five requests may come at once, then one every two seconds. Try:

  curl -i ${url}               # 200
  curl -i "${url}/[1-7]"       # 200s, then 429 with Retry-After
  sleep 2; curl -i ${url}      # the wait is honest: 200 again

Ctrl+C ends it.`)
})

server.on('error', (error) => {
  const isInUse = 'code' in error && error.code === 'EADDRINUSE'
  cannotListen(isInUse ? 'it is in use' : error.message)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close()
    // Answers are sent at once, so a connection that is still open waits for nothing.
    server.closeAllConnections()
    limiter.close()
  })
}

if (/^\d{1,5}$/.test(port) && Number(port) < 65_536) server.listen(Number(port), '127.0.0.1')
else cannotListen('it is not a number from 0 to 65535')

/** @param {string} why */
function cannotListen(why) {
  console.error(`Cannot listen on port ${port}: ${why}. Choose another one: PORT=3001`)
  process.exitCode = 1
}
