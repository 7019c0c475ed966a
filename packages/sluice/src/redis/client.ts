// What the store needs of a Redis client, and how the known clients give it. No client is imported.
import { onReady } from './ready.ts'

/** The one thing the store does: run a script by its hash, or by its text. */
export interface RedisConnection {
  /** Whether keys are spread over slots that one call may not mix. */
  readonly cluster: boolean
  evalsha(hash: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
  eval(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
  /** Calls a function whenever the client has connected. Returns what ends that. */
  onReachable(run: () => void): () => void
}

/** The shape of ioredis and iovalkey, standalone, Sentinel or Cluster. */
export interface IoredisLike {
  evalsha(hash: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>
  eval(script: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>
  readonly isCluster?: boolean
}

/** The shape of node-redis: a client, a pool, a Sentinel or a cluster. */
export interface NodeRedisLike {
  evalSha(hash: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
}

/** The shape of valkey-glide. */
export interface GlideLike {
  customCommand(args: string[]): Promise<unknown>
}

/** A client that {@link redisStore} can use. */
export type RedisClient = IoredisLike | NodeRedisLike | GlideLike

/** The connection that a client gives, or undefined when its shape is unknown. */
export function connectionOf(
  client: RedisClient,
  cluster: boolean | undefined,
): RedisConnection | undefined {
  if (typeof client !== 'object' || client === null) return undefined
  if ('evalSha' in client && typeof client.evalSha === 'function') {
    return nodeRedis(client, cluster ?? 'masters' in client)
  }
  if ('evalsha' in client && typeof client.evalsha === 'function') {
    return ioredis(client, cluster ?? client.isCluster === true)
  }
  if ('customCommand' in client && typeof client.customCommand === 'function') {
    return glide(client, cluster ?? 'pubsubShardChannels' in client)
  }
  return undefined
}

function ioredis(client: IoredisLike, cluster: boolean): RedisConnection {
  return {
    cluster,
    onReachable: (run) => onReady(client, run),
    evalsha: (hash, keys, args) => client.evalsha(hash, keys.length, ...keys, ...args),
    eval: (script, keys, args) => client.eval(script, keys.length, ...keys, ...args),
  }
}

function nodeRedis(client: NodeRedisLike, cluster: boolean): RedisConnection {
  const options = (keys: readonly string[], args: readonly string[]) => ({
    keys: [...keys],
    arguments: [...args],
  })
  return {
    cluster,
    onReachable: (run) => onReady(client, run),
    evalsha: (hash, keys, args) => client.evalSha(hash, options(keys, args)),
    eval: (script, keys, args) => client.eval(script, options(keys, args)),
  }
}

function glide(client: GlideLike, cluster: boolean): RedisConnection {
  const run = (verb: string, script: string, keys: readonly string[], args: readonly string[]) =>
    client.customCommand([verb, script, String(keys.length), ...keys, ...args])
  return {
    cluster,
    // It tells nobody when it has connected.
    onReachable: () => () => {},
    evalsha: (hash, keys, args) => run('EVALSHA', hash, keys, args),
    eval: (script, keys, args) => run('EVAL', script, keys, args),
  }
}
