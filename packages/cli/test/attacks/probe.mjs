// Asks for the health of a service all the time, and a server that does nothing else beside it:
// `node probe.mjs <url> <pid>`. The second shows how long the machine itself stood still. Of each wait it also takes
// the time for which the service's main thread was running: the rest it waited for a processor, as other programs do.
// Ends with its input, and prints the longest waits.
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import { fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const EVERY = 20
const [, , target, pid] = process.argv

/**
 * Milliseconds for which the main thread of a process has run; 0 where the system does not tell.
 * @param {string | undefined} pid
 */
function ranFor(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return 0
  }
}

/**
 * @param {string | undefined} url
 * @param {string} [pid]
 */
async function probe(url, pid) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const waits = { longest: 0, busy: 0, failed: 0, count: 0 }
  /** How many looks have begun. */
  let begun = 0
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
      const ran = ranFor(pid)
      begun += 1
      await ask()
      waits.count += 1
      waits.longest = Math.max(waits.longest, performance.now() - start)
      waits.busy = Math.max(waits.busy, ranFor(pid) - ran)
      await new Promise((resolve) => setTimeout(resolve, EVERY))
    }
  }
  /** The waits, once a look that begins from now on has ended: an attack may be over before the first one has. */
  const finish = async () => {
    const last = begun + 1
    while (waits.count < last) await new Promise((resolve) => setTimeout(resolve, 1))
    return waits
  }
  await ask()
  void loop()
  return finish
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
  const [service, machine] = await Promise.all([
    probe(target, pid),
    probe(`http://127.0.0.1:${port}`),
  ])
  console.log('ready')
  process.stdin.resume()
  await once(process.stdin, 'end')
  const [ofService, ofMachine] = await Promise.all([service(), machine()])
  console.log(JSON.stringify({ service: ofService, machine: ofMachine }))
  process.exit()
}
