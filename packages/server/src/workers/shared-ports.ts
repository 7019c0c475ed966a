// The ports that Node's cluster opens in the primary process for its workers, so that they can be closed first.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:net'

const LISTENING = 'tracing:net.server.listen:asyncStart'

/** The open socket of a server; Node has no public name for it. */
interface Handle {
  close(): void
}

/**
 * Finds the ports as they open. When the last worker closes one, Node drops the connections that it has accepted and not
 * handed over yet; closed here, a port takes no more, and those that it has accepted still reach a worker.
 */
export class SharedPorts {
  private readonly handles = new Set<Handle>()
  private readonly onListen = (message: unknown): void => {
    const { server } = message as { readonly server: Server & { readonly _handle?: Handle } }
    // First, since the cluster then removes the handle from the server.
    server.prependOnceListener('listening', () => {
      if (server._handle !== undefined) this.handles.add(server._handle)
    })
  }

  constructor() {
    subscribe(LISTENING, this.onListen)
  }

  /** Takes no more connections on any port. */
  close(): void {
    unsubscribe(LISTENING, this.onListen)
    for (const handle of this.handles) handle.close()
    this.handles.clear()
  }
}
