-- Learning mode: for one lease life after a server started or took over, it leases nothing.

-- The key that tells of a server's start lives for a week after it was last compared, every 20 ms at most.
local MARKER_LIFE, MARKER_RENEWAL = 604800000, 20

-- Whether leases may be out that this server does not know of: for one life after it started or took over. A key with
-- its run id tells. In a cluster the key may belong to another node; then only a start is seen.
--
-- INFO costs more than a decision, so a key that was compared a moment ago is taken as it is. A server that lost a lease
-- has lost what was written after it too: it would have to take over within that moment to be missed.
local learning
local function is_learning(key, life, now)
  if learning ~= nil then return learning end
  local marker = string.match(key, '^[^{]*') .. 'leases'
  local since = redis.pcall('GET', marker)
  local known, at, seen
  if type(since) == 'string' then known, at, seen = string.match(since, '^(%w+) (%d+) (%d+)$') end
  at, seen = tonumber(at), tonumber(seen)
  if seen and now >= seen and now - seen < MARKER_RENEWAL then
    learning = now - at < life
    return learning
  end
  learning = false
  local info = redis.pcall('INFO', 'server')
  if type(info) ~= 'string' then return false end
  local run_id = string.match(info, 'run_id:(%w+)')
  if type(since) == 'table' then
    local uptime = tonumber(string.match(info, 'uptime_in_seconds:(%d+)'))
    learning = uptime ~= nil and uptime * 1000 <= life
    return learning
  end
  if known ~= run_id then at = now end
  redis.pcall('SET', marker, string.format('%s %.0f %.0f', run_id, at, now), 'PX', MARKER_LIFE)
  learning = now - at < life
  return learning
end
