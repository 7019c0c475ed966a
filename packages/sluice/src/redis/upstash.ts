// @upstash/redis as the store uses it: commands over HTTP, one request for each call, and no connection to watch.
import { SluiceError } from '../errors.ts'
import type { ClientAdapter, ClientRisk } from './client-adapter.ts'

/**
 * The shape of `@upstash/redis`, and of clients that wrap it such as `@vercel/kv`.
 *
 * @example
 * ```ts
 * const storeOn = (client: UpstashLike) => redisStore(client)
 * ```
 */
export interface UpstashLike {
  evalsha(hash: string, keys: string[], args: string[]): Promise<unknown>
  eval(script: string, keys: string[], args: string[]): Promise<unknown>
  createScript(script: string): unknown
}

/** Further members of the real client. */
interface UpstashDetails extends UpstashLike {
  readonly client?: { readonly retry?: { readonly attempts?: number } }
}

/** Whether this is a client of `@upstash/redis`: it has the names of ioredis, but takes keys and arguments as arrays. */
export function isUpstash(client: object): client is UpstashLike {
  return 'createScript' in client && 'evalsha' in client && 'eval' in client
}

/** How to use a client of `@upstash/redis`. */
export function upstashAdapter(client: UpstashLike): ClientAdapter {
  const { client: http }: UpstashDetails = client
  const risks: readonly ClientRisk[] = (http?.retry?.attempts ?? 0) > 0 ? ['client-resends'] : []
  return {
    cluster: false,
    evalsha: (hash, keys, args) => client.evalsha(hash, [...keys], [...args]).catch(rethrow),
    eval: (script, keys, args) => client.eval(script, [...keys], [...args]).catch(rethrow),
    isReady: () => true,
    isClosed: () => false,
    wake() {},
    isWarm: () => true,
    on() {},
    risks: () => risks,
    duplicate: () => undefined,
  }
}

/** Gives errors of fetch and of HTTP a code, and removes the command from the server's errors: it contains keys. */
function rethrow(cause: unknown): never {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (cause instanceof TypeError)
    throw new SluiceError('store-unreachable', `Redis cannot be reached over HTTP (${message})`, {
      cause,
      transient: true,
    })
  const [reply = ''] = message.split(', command was:')
  if (/unauthorized/i.test(reply))
    throw new SluiceError('store-forbidden', `Redis does not accept the token (${reply})`, {
      cause,
      transient: false,
    })
  throw new Error(reply, { cause })
}
