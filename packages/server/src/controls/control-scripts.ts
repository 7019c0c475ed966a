// The four scripts on the hash of blocks and overrides. Each runs on one key, so that a cluster needs nothing more.
// Fields: one for each control by its id, `version`, `born` (when the hash was made), and `-id` of removed ones.

/** The server's time in milliseconds, and a version that no other state of the hash has had. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function changed()
  if redis.call('HEXISTS', KEYS[1], 'born') == 0 then
    redis.call('HSET', KEYS[1], 'born', time[1] .. ' ' .. time[2])
  end
  redis.call('HSET', KEYS[1], 'version', time[1] .. ' ' .. time[2] .. ' ' .. redis.call('HLEN', KEYS[1]))
end
local function clear(first)
  for i = first, #ARGV do
    local text = redis.call('HGET', KEYS[1], ARGV[i])
    local ends = text and tonumber(string.match(text, '^%d+ (%d+) ')) or 0
    if ends > 0 and ends <= now then redis.call('HDEL', KEYS[1], ARGV[i]) end
  end
end
local function live_for(millis)
  if redis.call('PTTL', KEYS[1]) < millis then
    redis.call('PEXPIRE', KEYS[1], string.format('%.0f', millis))
  end
end
`

/** ARGV: the version that is known, for how long to keep the hash. Gives now, the version and, if it is new, all. */
export const READ: string = `${NOW}
local version = redis.call('HGET', KEYS[1], 'version') or ''
local keep = tonumber(ARGV[2])
if keep > 0 and version ~= '' and redis.call('PTTL', KEYS[1]) < keep / 2 then live_for(keep) end
if version == ARGV[1] then return { now, version } end
return { now, version, redis.call('HGETALL', KEYS[1]) }
`

/** ARGV: id, text, how long it lasts or '', how many there may be, how long to keep the hash, ids that have ended. */
export const PUT: string = `${NOW}
clear(6)
local is_new = redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0
if is_new and redis.call('HLEN', KEYS[1]) > tonumber(ARGV[4]) + 1 then return 0 end
redis.call('HDEL', KEYS[1], '-' .. ARGV[1])
local lasts = tonumber(ARGV[3])
local ends = lasts and now + lasts or 0
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f %.0f ', now, ends) .. ARGV[2])
changed()
live_for(lasts or tonumber(ARGV[5]))
return 1
`

/**
 * ARGV: id, ids that have ended. Gives 1 when it was there. In the first minute of a hash a mark stays, so that an
 * instance that notices the loss of the hash before it later than others does not write the removed one back.
 */
export const REMOVE: string = `${NOW}
clear(2)
local removed = redis.call('HDEL', KEYS[1], ARGV[1])
if removed == 1 then
  local born = string.match(redis.call('HGET', KEYS[1], 'born') or '', '^%d+')
  if born and time[1] - born < 60 then redis.call('HSET', KEYS[1], '-' .. ARGV[1], '') end
  changed()
end
return removed
`

/**
 * Writes back what a lost hash had held. ARGV: how long to keep the hash, then an id and its text for each; those that
 * were set or removed meanwhile stay as they are. Gives how many were written.
 */
export const RESTORE: string = `${NOW}
local written = 0
for i = 2, #ARGV, 2 do
  local is_removed = redis.call('HEXISTS', KEYS[1], '-' .. ARGV[i]) == 1
  if not is_removed and redis.call('HEXISTS', KEYS[1], ARGV[i]) == 0 then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
    written = written + 1
  end
end
if written > 0 then
  changed()
  live_for(tonumber(ARGV[1]))
end
return written
`
