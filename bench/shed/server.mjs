// An Express server of which each request takes a known time of the processor: `node server.mjs plain|shed|front`.
import { pbkdf2Sync } from 'node:crypto'
import { createServer } from 'node:http'
import express from 'express'
import { shed } from 'sluice/http/node'

/** Rounds of a hash in a request: about 4 ms of the processor, however busy the machine is. */
const WORK = 20_000

/** Milliseconds that went into requests that were let in. */
let worked = 0
const app = express()
const kind = process.argv[2]
if (kind === 'shed') app.use(shed())
app.get('/', (request, response) => {
  // The load finds out by them how long an answer took, and when it was begun.
  response.set('x-sent', request.get('x-sent') ?? '')
  response.set('x-seen', String(Math.round((performance.timeOrigin + performance.now()) * 1000)))
  const begun = performance.now()
  pbkdf2Sync('work', 'salt', WORK, 32, 'sha256')
  worked += performance.now() - begun
  response.send('done')
})
/** @type {import('sluice/http/node').Shedder<import('node:http').IncomingMessage, import('node:http').ServerResponse>} */
const front = shed()
const handler = kind === 'front' ? front.inFrontOf(app) : app
const server = createServer(handler).listen(0, '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.send?.(address.port)
})

// A busy process that uses less of the processor than time passes has no core: something else runs there.
const LOOK_EVERY = 10
/** @type {number[]} */
let pauses = []
let [last, lastUsed] = [performance.now(), usedMillis()]
setInterval(() => {
  const [now, used] = [performance.now(), usedMillis()]
  pauses.push(Math.max(0, now - last - LOOK_EVERY - (used - lastUsed)))
  ;[last, lastUsed] = [now, used]
}, LOOK_EVERY)
function usedMillis() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
process.on('message', () => {
  process.send?.({ pauses, worked })
  pauses = []
  worked = 0
})
process.on('disconnect', () => process.exit(0))
