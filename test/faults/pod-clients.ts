// The Redis clients of a pod, set up as the documentation advises; a pod loads only the one that it uses.
import type { RedisClient } from '../../packages/sluice/src/redis/index.ts'
import type { ClientKind, Target } from './orders.ts'

/** A client that connects by itself, now or when a server is there. */
export interface Connected {
  readonly client: RedisClient
  readonly close: () => void
}

/** Makes a client for a store with that deadline, in ms, and does not wait for its connection. */
export async function connectTo(
  kind: ClientKind,
  target: Target,
  timeout: number,
): Promise<Connected> {
  if (kind === 'ioredis') return (await import('./ioredis-client.ts')).ioredis(target, timeout)
  return (await import('./node-redis-client.ts')).nodeRedis(target)
}
