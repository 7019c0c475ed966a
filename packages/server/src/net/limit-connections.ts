// How many connections a port takes at once, alone or in one of several workers.
import cluster from 'node:cluster'
import type { Server, Socket } from 'node:net'

/**
 * At most so many connections at once; of every other the server tells by `drop`. In a worker, Node's own limit would
 * have the primary process hand a connection from one full worker to the next, round and round at full speed.
 */
export function limitConnections(
  server: Server,
  most: number,
  isWorker: boolean = cluster.isWorker,
): void {
  if (!isWorker) {
    server.maxConnections = most
    return
  }
  let open = 0
  const emit: (event: string, ...args: unknown[]) => boolean = server.emit.bind(server)
  // Before any listener: a protocol must not begin on a socket that is closed again.
  server.emit = (event: string, ...args: unknown[]): boolean => {
    if (event !== 'connection') return emit(event, ...args)
    const socket = args[0] as Socket
    if (open >= most) {
      socket.destroy()
      return emit('drop')
    }
    open++
    socket.once('close', () => open--)
    return emit(event, ...args)
  }
}
