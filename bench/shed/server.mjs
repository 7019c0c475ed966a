// An Express server of which each request takes a known time of the processor: `node server.mjs shed|plain`.
import { performance } from 'node:perf_hooks'
import express from 'express'
import { shed } from 'sluice/http/node'

/** Milliseconds of work in a request. */
const WORK = 4

const app = express()
const shedder = process.argv[2] === 'shed' ? shed() : undefined
if (shedder !== undefined) app.use(shedder)
app.get('/', (_, response) => {
  const end = performance.now() + WORK
  while (performance.now() < end);
  response.send('done')
})
const server = app.listen(0, '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.send?.(address.port)
})
process.on('disconnect', () => process.exit(0))
