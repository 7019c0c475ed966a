// No key without an end: looks at every key that a test left behind.
import { afterAll, expect } from 'vitest'
import type { RedisServer } from '../../../../test/servers/redis-server.ts'

/** After all tests of a file, fails when a key of these servers would live for ever. Call before the hook that stops them. */
export function everyKeyExpires(servers: () => readonly RedisServer[]): void {
  afterAll(async () => {
    for (const server of servers()) expect(await immortal(server)).toEqual([])
  }, 60_000)
}

const SCAN = `
local cursor, found, seen = '0', {}, 0
repeat
  local page = redis.call('SCAN', cursor, 'COUNT', 1000)
  cursor = page[1]
  for _, key in ipairs(page[2]) do
    seen = seen + 1
    if redis.call('PTTL', key) == -1 then found[#found + 1] = key end
  end
until cursor == '0'
return found`

/** The keys that never expire. */
async function immortal(server: RedisServer): Promise<readonly string[]> {
  return server.cli<string[]>('EVAL', SCAN, '0')
}
