// Asks for the health of a service all the time, and a server that does nothing else beside it: `node probe.mjs <url>`.
// The second shows how long the machine itself stood still. Ends with its input, and prints the longest waits.
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const EVERY = 20
const [, , target] = process.argv

/** @param {string | undefined} url */
async function probe(url) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const waits = { longest: 0, failed: 0, count: 0 }
  const ask = () =>
    new Promise((resolve) => {
      const sent = request(`${url}`, { agent }, (response) => {
        if (response.statusCode !== 200) waits.failed += 1
        response.resume().on('end', () => resolve(undefined))
      })
      sent.on('error', () => {
        waits.failed += 1
        resolve(undefined)
      })
      sent.end()
    })
  const loop = async () => {
    for (;;) {
      const start = performance.now()
      await ask()
      waits.count += 1
      waits.longest = Math.max(waits.longest, performance.now() - start)
      await new Promise((resolve) => setTimeout(resolve, EVERY))
    }
  }
  await ask()
  void loop()
  return waits
}

if (target === 'idle') {
  const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.send?.(address.port)
  process.on('disconnect', () => process.exit())
} else {
  const idle = fork(fileURLToPath(import.meta.url), ['idle'])
  const [port] = await once(idle, 'message')
  const [service, machine] = await Promise.all([probe(target), probe(`http://127.0.0.1:${port}`)])
  console.log('ready')
  process.stdin.resume().on('end', () => {
    console.log(JSON.stringify({ service, machine }))
    process.exit()
  })
}
