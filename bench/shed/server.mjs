// An Express server of which each request takes a known time of the processor: `node server.mjs plain|shed|front`.
import { pbkdf2Sync } from 'node:crypto'
import { createServer } from 'node:http'
import express from 'express'
import { shed } from 'sluice/http/node'

/** Rounds of a hash in a request: about 4 ms of the processor, however busy the machine is. */
const WORK = 20_000

const app = express()
const kind = process.argv[2]
if (kind === 'shed') app.use(shed())
app.get('/', (request, response) => {
  // The load finds out by it how long an answer took.
  response.set('x-sent', request.get('x-sent') ?? '')
  pbkdf2Sync('work', 'salt', WORK, 32, 'sha256')
  response.send('done')
})
/** @type {import('sluice/http/node').Shedder<import('node:http').IncomingMessage, import('node:http').ServerResponse>} */
const front = shed()
const handler = kind === 'front' ? front.inFrontOf(app) : app
const server = createServer(handler).listen(0, '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.send?.(address.port)
})
process.on('disconnect', () => process.exit(0))
