// node-redis as the store uses it: a client, a pool, a Sentinel or a cluster.
import type { ClientAdapter, DuplicateClient } from './client-adapter.ts'
import { CONNECT_TIMEOUT } from './client-options.ts'

/**
 * The shape of node-redis: a client, a pool, a Sentinel or a cluster.
 *
 * @example
 * ```ts
 * const client: NodeRedisLike = createClient(nodeRedisOptions())
 * ```
 */
export interface NodeRedisLike {
  evalSha(hash: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
}

/** What the real clients have besides that: a pool has no `isReady` and no `duplicate`. */
interface NodeRedisDetails extends NodeRedisLike {
  readonly isOpen?: boolean
  readonly isReady?: boolean
  /** Of a plain client only: a Sentinel and a cluster keep theirs to themselves. */
  readonly options?: { readonly socket?: object; readonly disableOfflineQueue?: boolean }
  connect?(): Promise<unknown>
  destroy?(): unknown
  duplicate?(overrides?: object): NodeRedisDetails
  on?(event: string, run: () => void): unknown
}

const ignore = (): void => {}

/** How to use a client of node-redis. */
export function nodeRedisAdapter(client: NodeRedisLike, cluster: boolean): ClientAdapter {
  const details: NodeRedisDetails = client
  const options = (keys: readonly string[], args: readonly string[]) => ({
    keys: [...keys],
    arguments: [...args],
  })
  return {
    cluster,
    evalsha: (hash, keys, args) => client.evalSha(hash, options(keys, args)),
    eval: (script, keys, args) => client.eval(script, options(keys, args)),
    isReady: () => details.isReady !== false,
    isClosed: () => details.isOpen === false,
    wake() {},
    // A cluster is ready when its nodes are.
    isWarm: () => true,
    on(events, run) {
      for (const event of events) details.on?.(event, run)
    },
    risks: () =>
      details.options !== undefined && details.options.disableOfflineQueue !== true
        ? ['client-queues']
        : [],
    duplicate: () => duplicateOf(details, cluster),
  }
}

function duplicateOf(client: NodeRedisDetails, cluster: boolean): DuplicateClient | undefined {
  if (typeof client.duplicate !== 'function') return undefined
  const { options } = client
  // Overrides replace nested options as a whole, so they are given only where the rest of them can be kept.
  const copy = client.duplicate(
    options?.socket === undefined
      ? {}
      : {
          disableOfflineQueue: true,
          // One connection, once: when it is lost, another duplicate takes its place.
          socket: { ...options.socket, reconnectStrategy: false, connectTimeout: CONNECT_TIMEOUT },
        },
  )
  copy.on?.('error', ignore)
  return {
    adapter: nodeRedisAdapter(copy, cluster),
    ready: copy.connect?.() ?? Promise.resolve(),
    close() {
      Promise.resolve(copy.destroy?.()).catch(ignore)
    },
  }
}
