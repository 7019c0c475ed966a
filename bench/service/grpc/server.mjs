// One contender of the gRPC benchmark in a process of its own: prints its port, ends when its input does.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import { readConfig, startService } from '@sluice/server'
import { LIMITS, response, serviceDefinition } from './messages.mjs'
import { readDescriptors, replyFrame, statusBytes } from './floor.mjs'

/** @type {Record<string, () => Promise<number>>} */
const contenders = {
  /** Reads the message and answers with one just as large, without deciding anything. */
  async 'grpc-js echo'() {
    const server = new Server()
    const one = response(1)
    server.addService(serviceDefinition(), {
      /** @param {{ request: { descriptors: unknown[] } }} call @param {(error: null, reply: object) => void} done */
      ShouldRateLimit({ request: { descriptors } }, done) {
        done(null, { ...one, statuses: descriptors.map(() => one.statuses[0]) })
      },
    })
    return new Promise((resolve, reject) => {
      const credentials = ServerCredentials.createInsecure()
      server.bindAsync('127.0.0.1:0', credentials, (error, port) =>
        error ? reject(error) : resolve(port),
      )
    })
  },

  /** Decodes the message by hand and answers as many bytes as ours: what any server on `node:http2` must do. */
  async 'node:http2 floor'() {
    const status = statusBytes()
    return listen((stream) => {
      const chunks = /** @type {Buffer[]} */ ([])
      stream.on('data', (chunk) => chunks.push(/** @type {Buffer} */ (chunk)))
      stream.on('error', () => {})
      stream.on('end', () => {
        if (stream.destroyed) return
        const bytes = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
        reply(stream, replyFrame(readDescriptors(/** @type {Buffer} */ (bytes)).length, status))
      })
    })
  },

  /** Reads no message and answers with two bytes: what HTTP/2 itself costs. */
  'node:http2 alone': () => {
    const frame = Buffer.from([0, 0, 0, 0, 2, 8, 1])
    return listen((stream) => {
      stream.on('data', () => {})
      stream.on('error', () => {})
      stream.on('end', () => {
        if (!stream.destroyed) reply(stream, frame)
      })
    })
  },

  /** The whole service, in memory. */
  async sluice() {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
    const file = join(folder, 'limits.yaml')
    writeFileSync(file, LIMITS)
    const text = JSON.stringify({
      listeners: { http: { port: 0 }, grpc: { port: 0 } },
      envoy: { files: [file] },
      log: 'silent',
    })
    const { config, problems } = readConfig(text, 'bench')
    if (!config) throw new Error(JSON.stringify(problems))
    const { listeners } = await startService({ config })
    rmSync(folder, { recursive: true })
    return Number(new URL(listeners.find(({ name }) => name === 'grpc')?.url ?? '').port)
  },
}

/** @param {(stream: import('node:http2').ServerHttp2Stream) => void} serve @returns {Promise<number>} the port */
function listen(serve) {
  const server = createServer().on('stream', serve)
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      resolve(port)
    })
  })
}

/** @param {import('node:http2').ServerHttp2Stream} stream @param {Buffer} frame */
function reply(stream, frame) {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.end(frame)
}

const start = contenders[process.argv[2] ?? '']
if (!start) throw new Error(`there is no contender ${process.argv[2]}`)
process.stdin.on('end', () => process.exit(0)).resume()
process.stdout.write(`${await start()}\n`)
