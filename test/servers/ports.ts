// Chooses loopback ports for the servers of the tests.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * The ports handed out. A cluster node also listens at its port plus 10000; both ranges lie below the ports that
 * systems give to outgoing connections, so that no client of another test can take one in the meantime.
 */
const lowest = 10_000
const highest = 19_999
const busOffset = 10_000

/**
 * A random port of 127.0.0.1 that is free together with its cluster bus port. Another process may still take it
 * before it is used: whoever listens on it should be ready to try another.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(lowest, highest + 1)
    if ((await isFree(port)) && (await isFree(port + busOffset))) return port
  }
  throw new Error(`found no free port from ${lowest} to ${highest}`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(true))
    })
  })
}
