// The load of the gRPC benchmark, in a process of its own: calls over a few connections, many at once on each.
import { readFileSync } from 'node:fs'
import { connect, constants } from 'node:http2'
import { inputFromParent, reportToParent } from '../../lib/child.mjs'
import { PATH } from './messages.mjs'

const CONNECTIONS = 4
const CALLS_AT_ONCE = 32
const HEADERS = {
  ':method': 'POST',
  ':path': PATH,
  'content-type': 'application/grpc',
  te: 'trailers',
}

/** @typedef {{ requests: number, seconds: number, p50: number, p99: number }} Driven waits in milliseconds */

/** @param {{ port: number, body: string, seconds: number }} input `body`: a file @returns {Promise<Driven>} */
async function drive({ port, body, seconds }) {
  const message = readFileSync(body)
  const waits = /** @type {number[]} */ ([])
  const start = performance.now()
  const end = start + seconds * 1000
  const sessions = Array.from({ length: CONNECTIONS }, () => connect(`http://127.0.0.1:${port}`))
  const caller = async (/** @type {import('node:http2').ClientHttp2Session} */ session) => {
    for (let now = start; now < end;) {
      await call(session, message)
      const then = now
      now = performance.now()
      waits.push(now - then)
    }
  }
  const callers = sessions.flatMap((session) =>
    Array.from({ length: CALLS_AT_ONCE }, () => caller(session)),
  )
  await Promise.all(callers)
  const took = (performance.now() - start) / 1000
  for (const session of sessions) session.destroy()
  waits.sort((a, b) => a - b)
  const at = (/** @type {number} */ share) => waits[Math.floor(share * waits.length)] ?? NaN
  return { requests: waits.length, seconds: took, p50: at(0.5), p99: at(0.99) }
}

/** One call, which must succeed. @param {import('node:http2').ClientHttp2Session} session @param {Buffer} message */
function call(session, message) {
  return new Promise((resolve, reject) => {
    const stream = session.request(HEADERS)
    let status = ''
    stream.on('trailers', (trailers) => (status = String(trailers['grpc-status'])))
    stream.on('data', () => {})
    stream.on('error', reject)
    stream.on('close', () => {
      if (status === '0' && stream.rstCode === constants.NGHTTP2_NO_ERROR) resolve(undefined)
      else reject(new Error(`a call ended with grpc-status ${status}, code ${stream.rstCode}`))
    })
    stream.end(message)
  })
}

reportToParent(await drive(inputFromParent()))
