// What is measured: limiters in this process on memory or on a Redis, or a running service.
import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import {
  createLimiter,
  memoryStore,
  type Attributes,
  type Decision,
  type MaybePromise,
  type Policy,
} from 'sluice'
import { remoteLimiter } from 'sluice/client'
import { withCoordination } from 'sluice/coordination'
import { ioredisOptions, redisStore } from 'sluice/redis'
import { Mistake } from '../terminal/mistake.ts'
import type { Mode } from './modes.ts'

/** Something that decides, and what is known of the calls that it makes. */
export interface Target {
  /** What the report calls it. */
  readonly name: string
  check(attributes: Attributes): MaybePromise<Decision>
  /** Commands that the store has executed for decisions so far; undefined when the store does not count them. */
  storeCalls(): Promise<number | undefined>
  /** Removes what the measurement has written, and closes everything. */
  close(): Promise<void>
}

/** How long a call may take before it counts as failed. */
const TIMEOUT = 1000

/** The memory of this process. */
export function memoryTarget(policy: Policy): Target {
  const store = memoryStore()
  const limiter = createLimiter({ policy, store })
  return {
    name: 'memory',
    check: (attributes) => limiter.check(attributes),
    storeCalls: async () => 0,
    close: async () => {
      limiter.close()
      store.close()
    },
  }
}

/** A running service, over its HTTP API. */
export function serviceTarget(url: string, policy: string | undefined): Target {
  const limiter = remoteLimiter(url, {
    timeout: TIMEOUT,
    onEvent: () => {},
    ...(policy !== undefined && { policy }),
  })
  return {
    name: 'service',
    check: (attributes) => limiter.check(attributes),
    storeCalls: async () => undefined,
    close: () => limiter.close(),
  }
}

/** A Redis and the keys that it holds already. */
export interface RedisTarget extends Target {
  readonly otherKeys: number
}

/**
 * Connects to a Redis; all keys of the measurement have a prefix of their own. The policy says how each rule is
 * coordinated, `mode` what the report calls it. Rejects with {@link Mistake}.
 */
export async function redisTarget(url: string, policy: Policy, mode: Mode): Promise<RedisTarget> {
  const client = new Redis(url, { ...ioredisOptions(), lazyConnect: true, retryStrategy: null })
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    client.disconnect()
    throw new Mistake(`cannot connect to ${shownUrl(url)}: ${(error as Error).message}`)
  }
  const prefix = `sluice-bench-${randomBytes(4).toString('hex')}`
  const otherKeys = await client.dbsize()
  const counts = redisStore(client, { prefix, timeout: TIMEOUT })
  // One process measures: its share of a local limit is all of it.
  const store = mode === 'strict' ? counts : withCoordination(counts, { replicas: 1 })
  const limiter = createLimiter({ policy, store, resilience: { onEvent: () => {} } })
  return {
    name: `redis, ${mode}`,
    otherKeys,
    check: (attributes) => limiter.check(attributes),
    storeCalls: async () => scriptCalls(await client.info('commandstats')),
    close: async () => {
      await limiter.close()
      // Gives leased units back before their keys are removed.
      await store.close()
      await removeKeys(client, prefix)
      client.disconnect()
    },
  }
}

/** The address without its password. */
export function shownUrl(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//…@')
}

/** Scripts that a server has executed, by its own statistics. */
function scriptCalls(stats: string): number {
  const lines = stats.matchAll(/^cmdstat_(?:eval|evalsha|fcall):calls=(\d+)/gim)
  return [...lines].reduce((sum, [, calls]) => sum + Number(calls), 0)
}

async function removeKeys(client: Redis, prefix: string): Promise<void> {
  for await (const keys of client.scanStream({ match: `${prefix}*`, count: 1000 }))
    if ((keys as string[]).length > 0) await client.unlink(keys as string[])
}
