// ioredis and iovalkey as the store uses them: one server, Sentinel or Cluster.
import type { Millis } from '../time/clock.ts'
import type { ClientAdapter, ClientRisk, DuplicateClient } from './client-adapter.ts'
import { CONNECT_TIMEOUT, ioredisClusterOptions, ioredisOptions } from './client-options.ts'

/**
 * The shape of ioredis and iovalkey, standalone, Sentinel or Cluster.
 *
 * @example
 * ```ts
 * const client: IoredisLike = new Redis(ioredisOptions())
 * ```
 */
export interface IoredisLike {
  evalsha(hash: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>
  eval(script: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>
  readonly isCluster?: boolean
}

/** What the real clients have besides that. Wrapped clients may lack any of it. */
interface IoredisDetails extends IoredisLike {
  readonly status?: string
  readonly options?: IoredisOptions
  connect?(): Promise<unknown>
  disconnect?(): void
  duplicate?(...overrides: unknown[]): IoredisDetails
  /** Of a cluster. */
  nodes?(role: 'master'): readonly IoredisDetails[]
  on?(event: string, run: () => void): unknown
}

/** Options as the clients have completed them with their defaults. */
interface IoredisOptions {
  readonly enableOfflineQueue?: boolean
  readonly autoResendUnfulfilledCommands?: boolean
  readonly maxRetriesPerRequest?: number | null
  /** Of a cluster: milliseconds until a command is sent again after its node was lost. */
  readonly retryDelayOnFailover?: Millis
  readonly redisOptions?: object
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
    /* oxlint-disable sluice/no-spread-arguments -- at most 64 checks, or those of one request */
    evalsha: (hash, keys, args) => client.evalsha(hash, keys.length, ...keys, ...args),
    eval: (script, keys, args) => client.eval(script, keys.length, ...keys, ...args),
    /* oxlint-enable sluice/no-spread-arguments */
    isReady: () => !hasStatus || details.status === 'ready',
    isClosed: () => details.status === 'end' || details.status === 'disconnecting',
    wake(progress) {
      for (const client of [details, ...mastersOf(details)]) {
        if (client.status === 'wait') client.connect?.().then(progress, ignore)
      }
    },
    isWarm: () => mastersOf(details).every(({ status }) => status === 'ready'),
    on(events, run) {
      for (const event of events) details.on?.(event, run)
    },
    risks: (timeout) => risksOf(details.options ?? {}, timeout),
    duplicate: () => duplicateOf(details, cluster),
  }
}

function mastersOf(client: IoredisDetails): readonly IoredisDetails[] {
  return client.status === 'ready' && typeof client.nodes === 'function'
    ? client.nodes('master')
    : []
}

function risksOf(options: IoredisOptions, timeout: Millis): ClientRisk[] {
  const { autoResendUnfulfilledCommands, maxRetriesPerRequest, retryDelayOnFailover = 0 } = options
  const resends =
    // With no retries, commands in flight fail as soon as the connection is lost.
    (autoResendUnfulfilledCommands === true && maxRetriesPerRequest !== 0) ||
    // A command that is sent again after its deadline does nothing.
    (retryDelayOnFailover > 0 && retryDelayOnFailover < timeout)
  return [
    ...(options.enableOfflineQueue === true ? (['client-queues'] as const) : []),
    ...(resends ? (['client-resends'] as const) : []),
  ]
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
