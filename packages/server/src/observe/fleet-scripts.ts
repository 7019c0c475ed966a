// The scripts that keep what a fleet has seen in Redis: capped, expiring, all under one hash tag.

/**
 * Writes what one process has seen of its rules.
 * KEYS 1 the hash. ARGV 1 the process, 2 its JSON, 3 milliseconds that it is kept.
 */
export const WRITE_RULES = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%d', now) .. ' ' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return now
`

/**
 * Reads what all processes have seen, without those that have been silent for too long, which are removed.
 * KEYS 1 the hash. ARGV 1 milliseconds. Returns JSON texts.
 */
export const READ_RULES = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local all = redis.call('HGETALL', KEYS[1])
local found = {}
for i = 1, #all, 2 do
  local at, text = string.match(all[i + 1], '^(%d+) (.*)$')
  if at and now - tonumber(at) <= tonumber(ARGV[1]) then
    found[#found + 1] = text
  else
    redis.call('HDEL', KEYS[1], all[i])
  end
end
return found
`

/**
 * Writes journal entries, and drops the oldest beyond the cap.
 * KEYS 1 the hash of entries, 2 their order. ARGV 1 the cap, 2 milliseconds that entries are kept, then field and JSON in turn.
 */
export const WRITE_JOURNAL = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 3, #ARGV, 2 do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  redis.call('ZADD', KEYS[2], now, ARGV[i])
end
local old = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - tonumber(ARGV[2]), 'LIMIT', 0, 100)
local extra = redis.call('ZCARD', KEYS[2]) - #old - tonumber(ARGV[1])
if extra > 0 then
  for _, field in ipairs(redis.call('ZRANGE', KEYS[2], #old, #old + extra - 1)) do old[#old + 1] = field end
end
for _, field in ipairs(old) do
  redis.call('HDEL', KEYS[1], field)
  redis.call('ZREM', KEYS[2], field)
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return #old
`
