// When a client has connected, for as many as want to know.

/** The part of Node's EventEmitter that ioredis, iovalkey and node-redis have. */
interface Emitter {
  on(event: 'ready', listener: () => void): unknown
}

const listeners = new WeakMap<object, Set<() => void>>()

/**
 * Calls a function whenever the client says that it is ready. Returns what ends that. A client gets one listener
 * for all stores on it, since Node warns of more than ten.
 */
export function onReady(client: object, run: () => void): () => void {
  if (!isEmitter(client)) return () => {}
  let all = listeners.get(client)
  if (all === undefined) {
    const own = new Set<() => void>()
    all = own
    listeners.set(client, own)
    client.on('ready', () => {
      for (const run of own) run()
    })
  }
  all.add(run)
  return () => void all.delete(run)
}

function isEmitter(client: object): client is Emitter {
  return 'on' in client && typeof client.on === 'function'
}
