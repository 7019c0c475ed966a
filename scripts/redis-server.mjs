// Makes sure that the Redis tests have a server to start: REDIS_URL, a redis-server on PATH, or one from apt.
import { ensureProgram } from './debian.mjs'

/** Ends the process with one sentence when there is no server and none can be installed. */
export async function ensureRedisServer() {
  if (process.env['REDIS_URL']) return
  if (await ensureProgram('redis-server', ['redis-server', 'redis-sentinel'])) return
  console.error(
    'The tests need Redis: put redis-server on the PATH (Debian: apt-get install redis-server redis-sentinel; macOS: brew install redis) or set REDIS_URL.',
  )
  process.exit(1)
}
