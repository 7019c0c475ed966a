// An Express server of which each request takes a known time of the processor: `node server.mjs shed|plain`.
import { pbkdf2Sync } from 'node:crypto'
import express from 'express'
import { shed } from 'sluice/http/node'

/** Rounds of a hash in a request: about 4 ms of the processor, however busy the machine is. */
const WORK = 20_000

const app = express()
const shedder = process.argv[2] === 'shed' ? shed() : undefined
if (shedder !== undefined) app.use(shedder)
app.get('/', (request, response) => {
  // The load finds out by it how long an answer took.
  response.set('x-sent', request.get('x-sent') ?? '')
  pbkdf2Sync('work', 'salt', WORK, 32, 'sha256')
  response.send('done')
})
const server = app.listen(0, '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.send?.(address.port)
})
process.on('disconnect', () => process.exit(0))
