// The steady load of a soak, in a process of its own: `node load.mjs <url>`. Sends the waits of each span to its parent.
import { Agent, request } from 'node:http'

const [, , url = ''] = process.argv
const AT_ONCE = 16
const PER_SECOND = 400
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
/** @type {number[]} */
let waits = []
let failed = 0
let sent = 0

/** @param {string} key */
const check = (key) =>
  new Promise((resolve) => {
    const start = performance.now()
    const body = JSON.stringify({ policy: 'api', attributes: { key } })
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    const asked = request(`${url}/v1/check`, { method: 'POST', agent, headers }, (response) => {
      if (response.statusCode !== 200) failed += 1
      response.resume().on('end', () => {
        waits.push(performance.now() - start)
        resolve(undefined)
      })
    })
    asked.on('error', () => {
      failed += 1
      resolve(undefined)
    })
    asked.end(body)
  })

// Half of the requests are for few keys, most of which are refused; the others have a key of their own.
setInterval(() => {
  for (let i = 0; i < PER_SECOND / 20; i++) {
    sent += 1
    void check(sent % 2 === 0 ? `hot ${sent % 20}` : `once ${process.pid} ${sent}`)
  }
}, 50)
process.on('message', () => {
  const sorted = waits.toSorted((a, b) => a - b)
  const at = (/** @type {number} */ part) => sorted[Math.floor(sorted.length * part)] ?? 0
  process.send?.({ count: sorted.length, failed, p50: at(0.5), p99: at(0.99) })
  waits = []
})
process.on('disconnect', () => process.exit())
