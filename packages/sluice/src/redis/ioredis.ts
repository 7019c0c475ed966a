// ioredis and iovalkey as the store uses them: one server, Sentinel or Cluster.
import type { ClientAdapter, DuplicateClient } from './client-adapter.ts'
import { CONNECT_TIMEOUT, ioredisClusterOptions, ioredisOptions } from './client-options.ts'

/** The shape of ioredis and iovalkey, standalone, Sentinel or Cluster. */
export interface IoredisLike {
  evalsha(hash: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>
  eval(script: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>
  readonly isCluster?: boolean
}

/** What the real clients have beside that. Wrapped clients may lack any of it. */
interface IoredisDetails extends IoredisLike {
  readonly status?: string
  readonly options?: { readonly redisOptions?: object }
  connect?(): Promise<unknown>
  disconnect?(): void
  duplicate?(...overrides: unknown[]): IoredisDetails
  on?(event: string, run: () => void): unknown
}

const ignore = (): void => {}

/** One connection, once: when it is lost, another duplicate takes its place. */
const ONCE = { lazyConnect: true, monitor: false, disconnectTimeout: 100 }
const never = (): null => null

/** How to use a client of ioredis or iovalkey. */
export function ioredisAdapter(client: IoredisLike, cluster: boolean): ClientAdapter {
  const details: IoredisDetails = client
  const { status } = details
  const hasStatus = typeof status === 'string'
  return {
    cluster,
    evalsha: (hash, keys, args) => client.evalsha(hash, keys.length, ...keys, ...args),
    eval: (script, keys, args) => client.eval(script, keys.length, ...keys, ...args),
    isReady: () => !hasStatus || details.status === 'ready',
    isClosed: () => details.status === 'end' || details.status === 'disconnecting',
    wake() {
      if (details.status === 'wait') details.connect?.().catch(ignore)
    },
    on(events, run) {
      for (const event of events) details.on?.(event, run)
    },
    duplicate: () => duplicateOf(details, cluster),
  }
}

function duplicateOf(client: IoredisDetails, cluster: boolean): DuplicateClient | undefined {
  if (typeof client.duplicate !== 'function' || typeof client.on !== 'function') return undefined
  const copy =
    client.isCluster === true
      ? client.duplicate([], {
          ...ioredisClusterOptions(),
          ...ONCE,
          clusterRetryStrategy: never,
          redisOptions: { ...client.options?.redisOptions, connectTimeout: CONNECT_TIMEOUT },
        })
      : client.duplicate({
          ...ioredisOptions(),
          ...ONCE,
          retryStrategy: never,
          sentinelRetryStrategy: never,
        })
  copy.on?.('error', ignore)
  return {
    adapter: ioredisAdapter(copy, cluster),
    ready: copy.connect?.() ?? Promise.resolve(),
    close: () => copy.disconnect?.(),
  }
}
