// Warnings about settings of a client, once for each client.
import type { Millis } from '../time/clock.ts'
import type { ClientAdapter, ClientRisk } from './client-adapter.ts'
import type { StoreWarning } from './warnings.ts'

const REMEDY =
  'use ioredisOptions(), nodeRedisOptions() or upstashOptions() of sluice/redis, or their variants for Sentinel and Cluster'

const MESSAGES: Readonly<Record<ClientRisk, string>> = {
  'client-queues':
    'the Redis client queues commands while it has no connection, and sends them when their callers have been answered',
  'client-resends':
    'the Redis client sends a command again when its reply was lost, which charges it twice',
}

/** The warning of a first call by a client that has to be opened, and is not. */
export const NOT_OPEN: StoreWarning = {
  code: 'client-not-open',
  message:
    'the Redis client is not open and does not connect by itself, so every request is answered without Redis; call its connect() once, before the first request',
}

/** What to do about a risk. In a cluster, commands are sent again within the deadline of this store. */
function remedyOf(code: ClientRisk, { cluster }: ClientAdapter, timeout: Millis): string {
  return cluster && code === 'client-resends'
    ? `set retryDelayOnFailover to the timeout of the store, ${timeout} ms, or more`
    : REMEDY
}

const warned = new WeakSet<object>()

/** Warns of a client whose options do not fit a store with that deadline, the first time that it is used. */
export function warnOfClient(
  client: object,
  adapter: ClientAdapter,
  timeout: Millis,
  warn: (warning: StoreWarning) => void,
): void {
  if (warned.has(client)) return
  warned.add(client)
  for (const code of adapter.risks(timeout))
    warn({ code, message: `${MESSAGES[code]}; ${remedyOf(code, adapter, timeout)}` })
}
