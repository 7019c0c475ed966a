// valkey-glide as the store uses it. It is connected when it is made, and renews its connections by itself.
import type { ClientAdapter } from './client-adapter.ts'

/**
 * The shape of valkey-glide.
 *
 * @example
 * ```ts
 * const storeOn = (client: GlideLike) => redisStore(client)
 * ```
 */
export interface GlideLike {
  customCommand(args: string[]): Promise<unknown>
}

/** How to use a client of valkey-glide. */
export function glideAdapter(client: GlideLike, cluster: boolean): ClientAdapter {
  const run = (verb: string, script: string, keys: readonly string[], args: readonly string[]) =>
    client.customCommand([verb, script, String(keys.length), ...keys, ...args])
  return {
    cluster,
    evalsha: (hash, keys, args) => run('EVALSHA', hash, keys, args),
    eval: (script, keys, args) => run('EVAL', script, keys, args),
    isReady: () => true,
    isClosed: () => false,
    wake() {},
    isWarm: () => true,
    on() {},
    risks: () => [],
    duplicate: () => undefined,
  }
}
