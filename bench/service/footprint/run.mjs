// What the service holds: memory by idle connection, and after many checks over many keys. `node bench/service/footprint/run.mjs [--only connections|checks]`
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { figure, markdownTable } from '../../lib/table.mjs'
import { startServer } from '../servers.mjs'

const { values: options } = parseArgs({ options: { only: { type: 'string' } } })
const path = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url))
const main = path('../../../packages/cli/dist/main.js')
const CONNECTIONS = 5000
const CHECKS = 10_000_000
const KEYS = 1_000_000
const BATCH = 1000
/** Batches on their way at once. */
const TOGETHER = 4
/** A busy machine may never get to the end. */
const LONGEST = 230_000

process.env['SLUICE_GRPC_PORT'] = '0'
process.env['SLUICE_PROXY_UPSTREAM'] = 'http://127.0.0.1:9'
process.env['SLUICE_PROXY_PORT'] = '0'
if (options.only !== 'checks') await connections()
if (options.only !== 'connections') await checks()

async function connections() {
  const rows = []
  for (const [listener, open] of Object.entries({
    http: openHttp,
    proxy: openHttp,
    grpc: openGrpc,
  })) {
    const server = await startServer([main, 'serve', path('sluice.yaml')], undefined, listener)
    // The first ones pay for what all share.
    const held = []
    for (let i = 0; i < 200; i++) held.push(await open(server.url))
    await pause(1500)
    const before = server.memory()
    for (let i = 0; i < CONNECTIONS; i += 100)
      held.push(...(await Promise.all(Array.from({ length: 100 }, () => open(server.url)))))
    await pause(3000)
    const each = (server.memory() - before) / CONNECTIONS
    rows.push([listener, figure(before / 2 ** 20), `${figure(each / 1024)} KiB`])
    for (const close of held) close()
    server.stop()
  }
  console.log(
    markdownTable(['listener', 'MiB without', `for each of ${CONNECTIONS} idle connections`], rows),
  )
}

/** A connection that has had one answer and waits for the next request. @param {string} url */
async function openHttp(url) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'data')
  return () => socket.destroy()
}

/** A session that has had one answer. @param {string} url */
async function openGrpc(url) {
  const session = connectHttp2(url)
  session.on('error', () => {})
  const stream = session.request({
    ':method': 'POST',
    ':path': '/grpc.health.v1.Health/Check',
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  stream.end(Buffer.alloc(5))
  stream.resume()
  await once(stream, 'end')
  return () => session.destroy()
}

async function checks() {
  const server = await startServer([main, 'serve', path('sluice.yaml')], undefined)
  const agent = new Agent({ keepAlive: true, maxSockets: TOGETHER })
  const rows = [['0', figure(server.memory() / 2 ** 20), '']]
  const start = performance.now()
  let sent = 0
  let done = 0
  let printed = 0
  const worker = async () => {
    while (sent < CHECKS && performance.now() - start < LONGEST) {
      const first = sent
      sent += BATCH
      await post(`${server.url}/v1/check`, agent, first)
      done += BATCH
      if (done < printed + 1_000_000) continue
      printed += 1_000_000
      const rate = done / ((performance.now() - start) / 1000)
      rows.push([figure(done), figure(server.memory() / 2 ** 20), figure(rate)])
    }
  }
  await Promise.all(Array.from({ length: TOGETHER }, worker))
  agent.destroy()
  console.log(markdownTable(['checks', 'RSS in MiB', 'checks/s so far'], rows))
  server.stop()
}

/** Each key comes once in every million checks. @param {string} url @param {Agent} agent @param {number} first */
function post(url, agent, first) {
  let body = '{"checks":['
  for (let i = 0; i < BATCH; i++)
    body += `${i === 0 ? '' : ','}{"key":"customer-${(first + i) % KEYS}"}`
  body += ']}'
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    const sending = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('end', resolve)
      if (response.statusCode !== 200) reject(new Error(String(response.statusCode)))
    })
    sending.on('error', reject)
    sending.end(body)
  })
}

/** @param {number} millis */
function pause(millis) {
  return new Promise((resolve) => setTimeout(resolve, millis))
}
