// Hands requests to a listener without a network: Node's own request and response, on sockets that discard.
import { IncomingMessage, ServerResponse } from 'node:http'
import { Duplex } from 'node:stream'

const HEADERS = [
  'Host',
  'localhost',
  'User-Agent',
  'bench',
  'Accept',
  '*/*',
  'Connection',
  'keep-alive',
]

/** A socket that swallows what is written, and says where it comes from. */
class Discarding extends Duplex {
  /** @param {string} remoteAddress */
  constructor(remoteAddress) {
    super()
    this.remoteAddress = remoteAddress
    this.encrypted = false
  }
  /** @override */
  _read() {}
  /** @override @param {unknown} _chunk @param {unknown} _encoding @param {() => void} done */
  _write(_chunk, _encoding, done) {
    done()
  }
  setTimeout() {
    return this
  }
}

/**
 * Makes the function that sends so many requests, `connections` at a time, and gives their last status.
 * @param {import('node:http').RequestListener} listener
 * @param {{ connections: number, dual: boolean }} options `dual`: addresses as a socket for both families tells them
 */
export function driver(listener, { connections, dual }) {
  const sockets = Array.from({ length: connections }, (_, i) => {
    return new Discarding(`${dual ? '::ffff:' : ''}192.0.2.${i + 1}`)
  })
  return (/** @type {number} */ count) => {
    let started = 0
    let finished = 0
    let status = 0
    return /** @type {Promise<number>} */ (
      new Promise((resolve) => {
        const next = (/** @type {any} */ socket) => {
          if (started >= count) return
          started += 1
          const request = new IncomingMessage(socket)
          request.method = 'GET'
          request.url = '/hello'
          request.httpVersionMajor = 1
          request.httpVersionMinor = 1
          request.httpVersion = '1.1'
          // A list of its own for each request, as from Node's parser.
          request.rawHeaders = HEADERS.slice()
          request.headers = {
            host: 'localhost',
            'user-agent': 'bench',
            accept: '*/*',
            connection: 'keep-alive',
          }
          request.complete = true
          request.push(null)
          const response = new ServerResponse(request)
          response.assignSocket(socket)
          response.once('finish', () => {
            response.detachSocket(socket)
            // As a server does, and what frameworks wait for.
            response.emit('close')
            status = response.statusCode
            finished += 1
            if (finished === count) resolve(status)
            else setImmediateIn(connections, next, socket)
          })
          listener(/** @type {any} */ (request), /** @type {any} */ (response))
        }
        for (const socket of sockets) next(socket)
      })
    )
  }
}

/** The next request of a connection comes in a later turn, as from a socket; many connections share a turn. @type {[(socket: any) => void, any][]} */
const waiting = []
/** @param {number} connections @param {(socket: any) => void} next @param {any} socket */
function setImmediateIn(connections, next, socket) {
  waiting.push([next, socket])
  if (waiting.length > 1 && connections > 1) return
  setImmediate(() => {
    for (const [next, socket] of waiting.splice(0)) next(socket)
  })
}
