-- Sliding window log: algorithms/sliding-log.ts.
--
-- One string per count: 24 bytes of (at, before, head), then 16 bytes for each entry of (instant, running
-- total), of which [head, tail) count. A short log is read and written whole; a long one by the few bytes
-- that matter, so that a take never copies it.

local sliding_log = {}
local HEADER, ENTRY, SHORT, SLACK = 24, 16, 4096, 32

-- The log under a key, or nil when there is none; nil and the error when the key cannot be read.
function sliding_log.open(key)
  local raw = redis.pcall('GETRANGE', key, 0, SHORT - 1)
  if type(raw) == 'table' then return nil, raw.err end
  local length = #raw
  if length == SHORT then length = redis.call('STRLEN', key) end
  local tail = (length - HEADER) / ENTRY
  if length <= HEADER or tail ~= floor(tail) then return nil end
  local log = { key = key, tail = tail, shift = 0 }
  log.at, log.before, log.head = unpack('<ddd', raw)
  if length == #raw then log.raw = raw end
  if not (is_whole(log.at) and is_whole(log.before) and is_whole(log.head) and log.head < tail) then return nil end
  log.used = sliding_log.number(log, tail - 1, 1) - log.before
  if not is_whole(log.used) then return nil end
  return log
end

function sliding_log.empty(key, now)
  return { key = key, raw = '', at = now, before = 0, head = 0, tail = 0, used = 0, shift = 0 }
end

-- The instant (offset 0) or running total (offset 1) of an entry.
function sliding_log.number(log, index, offset)
  local from = HEADER + ENTRY * index + 8 * offset
  local n
  if log.raw then
    n = unpack('<d', log.raw, from + 1)
  else
    n = unpack('<d', redis.call('GETRANGE', log.key, from, from + 7))
  end
  if offset == 0 then return n - log.shift end
  return n
end

-- The first index in [head, tail) whose number at the offset is at least the bound; tail when none is.
function sliding_log.search(log, offset, bound)
  local low, high = log.head, log.tail
  while low < high do
    local middle = floor((low + high) / 2)
    if sliding_log.number(log, middle, offset) >= bound then high = middle else low = middle + 1 end
  end
  return low
end

function sliding_log.drop(log, head, before)
  log.used = log.used - (before - log.before)
  log.head, log.before = head, before
end

function sliding_log.advance(log, limit, now)
  local ahead = log.at - now
  if ahead > limit.window then
    log.shift, log.at = ahead, now
    return
  end
  local head = sliding_log.search(log, 0, max(now, log.at) - limit.window + 1)
  if head > log.head then sliding_log.drop(log, head, sliding_log.number(log, head - 1, 1)) end
end

-- Bytes of the entries that count, as they are stored.
local function entries_of(log)
  if log.head == log.tail then return '' end
  local from = HEADER + ENTRY * log.head
  local bytes = log.raw and string.sub(log.raw, from + 1) or redis.call('GETRANGE', log.key, from, -1)
  if log.shift == 0 then return bytes end
  local moved = {}
  for i = 0, log.tail - log.head - 1 do
    local instant, total = unpack('<dd', bytes, ENTRY * i + 1)
    moved[i + 1] = pack('<dd', instant - log.shift, total)
  end
  return table.concat(moved)
end

-- Takes the cost, as far as the quota goes, and writes. Returns the server's error, if any.
function sliding_log.spend(log, limit, cost, now)
  local added = min(cost, limit.quota)
  if added == 0 then return nil end
  local excess = max(0, log.used + added - limit.quota)
  if excess > 0 then
    sliding_log.drop(log, sliding_log.search(log, 1, log.before + excess + 1), log.before + excess)
  end
  log.at = max(now, log.at)
  log.used = log.used + added
  local entry = pack('<dd', log.at, log.before + log.used)
  local ttl = log.at + limit.window - now
  local reply
  if log.raw or log.shift ~= 0 or log.head - SLACK >= log.tail - log.head then
    local bytes = entries_of(log) .. entry
    log.shift, log.tail, log.head = 0, #bytes / ENTRY, 0
    log.raw = pack('<ddd', log.at, log.before, 0) .. bytes
    reply = redis.pcall('SET', log.key, log.raw, 'PX', ttl)
  else
    reply = redis.pcall('APPEND', log.key, entry)
    if type(reply) ~= 'table' then
      log.tail = log.tail + 1
      redis.call('SETRANGE', log.key, 0, pack('<ddd', log.at, log.before, log.head))
      redis.call('PEXPIRE', log.key, ttl)
    end
  end
  return type(reply) == 'table' and reply.err or nil
end

-- Hands back from the entry of that instant, then from older ones. Returns the server's error, if any.
function sliding_log.give(log, limit, cost, now, taken_at)
  local left, kept, newest = cost, {}, now
  local bytes = entries_of(log)
  local count = log.tail - log.head
  for i = count - 1, 0, -1 do
    local instant, total = unpack('<dd', bytes, ENTRY * i + 1)
    local before = log.before
    if i > 0 then before = unpack('<d', bytes, ENTRY * i - 7) end
    local units = total - before
    local back = 0
    if instant <= taken_at then back = min(left, units) end
    left = left - back
    if units > back then
      if #kept == 0 then newest = instant end
      kept[#kept + 1] = { instant, units - back }
    end
  end
  if #kept == 0 then
    local reply = redis.pcall('DEL', log.key)
    return type(reply) == 'table' and reply.err or nil
  end
  local total, packed = log.before, { pack('<ddd', max(now, log.at), log.before, 0) }
  for i = #kept, 1, -1 do
    total = total + kept[i][2]
    packed[#packed + 1] = pack('<dd', kept[i][1], total)
  end
  local reply = redis.pcall('SET', log.key, table.concat(packed), 'PX', newest + limit.window - now)
  return type(reply) == 'table' and reply.err or nil
end

-- When a cost that does not fit will: 0 for a cost that fits, or never can.
function sliding_log.free_at(log, limit, cost)
  if cost > limit.quota or log.used + cost <= limit.quota then return 0 end
  local last = sliding_log.search(log, 1, log.before + log.used + cost - limit.quota)
  return sliding_log.number(log, last, 0) + limit.window
end

function sliding_log.full_at(log, limit, now)
  if log.used == 0 then return now end
  return sliding_log.number(log, log.tail - 1, 0) + limit.window
end
