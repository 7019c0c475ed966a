// Starts several servers side by side: all of them, or none.
import { type RedisOptions, type RedisServer, startRedis } from './redis-server.ts'

/** Starts a server for each of the options, in their order. When one fails the others are stopped. */
export async function startAll(all: RedisOptions[]): Promise<RedisServer[]> {
  const results = await Promise.allSettled(all.map((options) => startRedis(options)))
  const servers = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  const failed = results.find((result) => result.status === 'rejected')
  if (!failed) return servers
  await Promise.all(servers.map((server) => server.stop()))
  throw failed.reason
}
