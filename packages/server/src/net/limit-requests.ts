// How many requests of one address a port handles at once, over all connections of that address.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from './limit-connections.ts'

/** Requests of one address at once by default: more than a proxy in front has open, less than fills a heap. */
const MAX_REQUESTS_PER_ADDRESS = 10_000

/** Counts the requests of each network that are not answered yet. */
export class OpenRequests {
  private readonly max: number
  private readonly counts = new Map<string, number>()

  constructor(max: number = MAX_REQUESTS_PER_ADDRESS) {
    this.max = max
  }

  /** False if the network has too many already; otherwise the request counts until {@link leave}. */
  enter(network: string): boolean {
    const count = this.counts.get(network) ?? 0
    if (count >= this.max) return false
    this.counts.set(network, count + 1)
    return true
  }

  leave(network: string): void {
    const left = this.counts.get(network)! - 1
    if (left === 0) this.counts.delete(network)
    else this.counts.set(network, left)
  }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** How requests beyond the limit are answered. */
export interface RequestLimit {
  /** Requests at once from one address, or from one /64 of IPv6. Default 10,000. */
  readonly max?: number | undefined
  /** Further fields of the answer, which is 503. */
  readonly fields?: OutgoingHttpHeaders
  readonly onRefused: () => void
}

/** Refuses requests of an address that has too many unanswered ones, before anything else is done for them. */
export function limitRequests(handle: Handler, { max, fields, onRefused }: RequestLimit): Handler {
  const open = new OpenRequests(max)
  /** Addresses are read once for each connection. */
  const networks = new WeakMap<Socket, string>()
  return (request, response) => {
    const { socket } = request
    let network = networks.get(socket)
    if (network === undefined) {
      network = networkOf(socket.remoteAddress)
      networks.set(socket, network)
    }
    const from = network
    if (open.enter(from)) {
      response.once('close', () => open.leave(from))
      handle(request, response)
      return
    }
    onRefused()
    // The body is not read, so the connection cannot be used again.
    response.writeHead(503, {
      Connection: 'close',
      'Content-Length': 0,
      'Retry-After': 1,
      ...fields,
    })
    response.end()
  }
}
