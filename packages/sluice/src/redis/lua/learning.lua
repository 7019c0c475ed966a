-- Learning mode: for one lease life after a server started or took over, it leases nothing.

-- The key that records a server's run id lives for a week after it was last compared, at most every 20 ms.
local MARKER_LIFE, MARKER_RENEWAL = 604800000, 20

-- Whether leases may be out that this server does not know of: for one life after it started or took over. A key with
-- its run id tells. In a cluster each slot has a key of its own, which the last argument names, since the counts of a slot
-- are replicated and moved with it. A slot without one has leased nothing, unless its node has just started.
--
-- INFO costs more than a decision, so a key that was compared a moment ago is taken as it is. A server that lost a lease
-- has lost what was written after it too: it would have to take over within that moment to be missed.
--
-- `epoch` is when it began to keep the record that it has now. It goes to the caller: leases of another epoch may be lost.
local learning, epoch
local function is_learning(key, life, now)
  if learning ~= nil then return learning end
  local marker = ARGV[#ARGV]
  local is_of_slot = string.sub(marker, -7) == '}leases'
  if not is_of_slot then marker = string.match(key, '^[^{]*') .. 'leases' end
  local since = redis.pcall('GET', marker)
  local known, at, seen
  if type(since) == 'string' then known, at, seen = string.match(since, '^(%w+) (%d+) (%d+)$') end
  at, seen = tonumber(at), tonumber(seen)
  if seen and now >= seen and now - seen < MARKER_RENEWAL then
    learning, epoch = now - at < life, at
    return learning
  end
  learning = false
  local info = redis.pcall('INFO', 'server')
  if type(info) ~= 'string' then return false end
  local run_id = string.match(info, 'run_id:(%w+)')
  local uptime = tonumber(string.match(info, 'uptime_in_seconds:(%d+)'))
  local is_started = uptime ~= nil and uptime * 1000 <= life
  if type(since) == 'table' then
    learning = is_started
    return learning
  end
  if is_of_slot and not since and not is_started then
    at = 0
  elseif known ~= run_id then
    at = now
  end
  redis.pcall('SET', marker, string.format('%s %.0f %.0f', run_id, at, now), 'PX', MARKER_LIFE)
  learning, epoch = now - at < life, at
  return learning
end
