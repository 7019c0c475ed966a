// Settings of a running server.
import type { RedisServer } from '../servers/redis-server.ts'
import { until } from '../servers/until.ts'

/** Sets it, again if a busy machine did not answer: to set it twice is to set it once. */
export async function configure(server: RedisServer, name: string, value: string): Promise<void> {
  await until(`${name} is ${value}`, 20_000, () => server.cli('CONFIG', 'SET', name, value))
}
