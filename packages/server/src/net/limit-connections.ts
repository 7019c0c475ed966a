// How many connections a port accepts at once: in all and from one address, alone or in one of several workers.
import cluster from 'node:cluster'
import type { Server, Socket } from 'node:net'

/** Half of what a listener accepts by default: one address alone cannot shut the others out. */
const MAX_PER_ADDRESS = 10_000

/** What a port accepts. */
export interface ConnectionLimits {
  /** Whether this process is one of several workers. Default: whether it is a worker of a cluster. */
  readonly isWorker?: boolean
  /** Connections from one address, or from one /64 of IPv6. Default 10,000. */
  readonly perAddress?: number | undefined
}

/**
 * Accepts at most `max` connections at once and emits `drop` for every other. Sockets are counted, not `connection`
 * events: a socket that is returned to its server emits the event again. In a worker, Node's own limit would have
 * the primary process hand a connection from one full worker to the next, round and round at full speed.
 */
export function limitConnections(server: Server, max: number, limits: ConnectionLimits = {}): void {
  const { isWorker = cluster.isWorker, perAddress = MAX_PER_ADDRESS } = limits
  if (!isWorker) server.maxConnections = max
  const open = new Set<Socket>()
  const byAddress = new Map<string, number>()
  // Runs before the protocol's own listeners, which must not use a socket that is closed here. Not by wrapping `emit`, which
  // every request would pass.
  const begin = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    if (!open.has(socket)) {
      const network = networkOf(socket.remoteAddress)
      const others = byAddress.get(network) ?? 0
      if (open.size >= max || others >= perAddress) {
        socket.destroy()
        server.emit('drop')
        return
      }
      open.add(socket)
      byAddress.set(network, others + 1)
      socket.once('close', () => {
        open.delete(socket)
        const left = byAddress.get(network)! - 1
        if (left === 0) byAddress.delete(network)
        else byAddress.set(network, left)
      })
    }
    for (const listener of begin) Reflect.apply(listener, server, [socket])
  })
}

/** An IPv4 address, or the /64 of an IPv6 address, which one client can fill alone. Addresses come from Node. */
export function networkOf(address = ''): string {
  const isMapped = address.startsWith('::ffff:') && address.includes('.')
  if (isMapped) return address.slice(7)
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('%')[0]!.split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const behind = tail === '' ? 0 : tail.split(':').length
    while (groups.length < 8 - behind) groups.push('0')
    if (behind > 0) for (const group of tail.split(':')) groups.push(group)
  }
  return `${groups.slice(0, 4).join(':')}::/64`
}
