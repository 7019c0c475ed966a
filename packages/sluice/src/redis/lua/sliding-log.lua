-- Sliding window log: algorithms/sliding-log.ts.
--
-- One string per count: 24 bytes of (at, before, head), then 16 bytes for each entry of (instant, running
-- total), of which [head, tail) count. A short log is read and written whole; a long one by the few bytes
-- that matter, so that a take never copies it.

local sliding_log = {}
local HEADER, ENTRY, SHORT, SLACK = 24, 16, 4096, 32
-- The most that a log counts: no limit may have a larger quota.
local LARGEST = 10000

-- An empty log. `added` holds instants and totals behind the `stored` entries that are not written yet.
local function empty(key, now)
  return { key = key, raw = '', at = now, before = 0, head = 0, tail = 0, stored = 0, used = 0, shift = 0, added = {} }
end

-- Fills an empty log of so many bytes, of which `raw` are the first. It stays empty if this script did not write them.
local function filled(log, raw, length, limit)
  local tail = (length - HEADER) / ENTRY
  if tail < 1 or tail ~= floor(tail) then return log end
  local at, before, head = unpack('<ddd', raw)
  if not (is_whole(at) and is_whole(before) and is_whole(head) and head < tail) then return log end
  local last = unpack('<d', length == #raw and string.sub(raw, -8) or redis.call('GETRANGE', log.key, -8, -1))
  if not is_whole(last) or last <= before or last - before > LARGEST then return log end
  log.raw = length == #raw and raw or nil
  log.at, log.before, log.head, log.tail, log.stored, log.used = at, before, head, tail, tail, last - before
  sliding_log.bound(log, limit)
  return log
end

-- The log under a key, or an empty one; nil and the error when the key cannot be read.
function sliding_log.open(key, limit, now)
  local raw = redis.pcall('GETRANGE', key, 0, SHORT - 1)
  if type(raw) == 'table' then return nil, raw.err end
  local length = #raw
  if length == SHORT then length = redis.call('STRLEN', key) end
  return filled(empty(key, now), raw, length, limit)
end

-- The log that `raw` is all of; an empty one without it. It is never written to a key of its own.
function sliding_log.of(raw, limit, now)
  return filled(empty(nil, now), raw, #raw, limit)
end

-- What stored entries can hold: one that another program has damaged never lives longer, or counts more, than this.
function sliding_log.bound(log, limit)
  log.oldest, log.newest, log.least, log.most = log.at - limit.window, log.at, log.before, log.before + log.used
end

local function within(n, low, high)
  if n >= low and n <= high then return n end
  if n < low then return low end
  return high
end

-- The instant (offset 0) or running total (offset 1) of an entry.
function sliding_log.number(log, index, offset)
  if index >= log.stored then return log.added[2 * (index - log.stored) + offset + 1] end
  local from = HEADER + ENTRY * index + 8 * offset
  local n
  if log.raw then
    n = unpack('<d', log.raw, from + 1)
  else
    n = unpack('<d', redis.call('GETRANGE', log.key, from, from + 7))
  end
  if offset == 0 then return within(n, log.oldest, log.newest) - log.shift end
  return within(n, log.least, log.most)
end

-- The first index in [head, tail) whose number at the offset is at least the bound; tail when none is.
-- Mostly it is one of the first, so the search begins there, in steps that double.
function sliding_log.search(log, offset, bound)
  local low, high, step = log.head, log.head, 1
  while high < log.tail and sliding_log.number(log, high, offset) < bound do
    low, high, step = high + 1, high + step, 2 * step
  end
  high = min(high, log.tail)
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

function sliding_log.fits(log, limit, cost)
  return log.used + cost <= limit.quota
end

function sliding_log.spend(log, limit, cost, now)
  local units = min(cost, limit.quota)
  if units == 0 then return end
  local excess = max(0, log.used + units - max(limit.quota, log.used))
  if excess > 0 then
    sliding_log.drop(log, sliding_log.search(log, 1, log.before + excess + 1), log.before + excess)
  end
  log.at = max(now, log.at)
  log.used = log.used + units
  log.tail = log.tail + 1
  log.added[#log.added + 1] = log.at
  log.added[#log.added + 1] = log.before + log.used
end

-- The log for a check that comes after on the same count, to spend from without an effect on this one.
function sliding_log.copy(log)
  local copy = {}
  for name, value in pairs(log) do copy[name] = value end
  copy.added = {}
  for i = 1, #log.added do copy.added[i] = log.added[i] end
  return copy
end

-- The entries [from, to) as they are stored.
local function entries_of(log, from, to)
  local parts = {}
  local last = min(to, log.stored)
  if from < last then
    local first = HEADER + ENTRY * from
    local bytes = log.raw and string.sub(log.raw, first + 1, HEADER + ENTRY * last)
      or redis.call('GETRANGE', log.key, first, HEADER + ENTRY * last - 1)
    if log.shift == 0 then
      parts[1] = bytes
    else
      for i = 0, last - from - 1 do
        local instant, total = unpack('<dd', bytes, ENTRY * i + 1)
        parts[i + 1] = pack('<dd', within(instant, log.oldest, log.newest) - log.shift, total)
      end
    end
  end
  for i = max(from, last), to - 1 do
    parts[#parts + 1] = pack('<dd', sliding_log.number(log, i, 0), sliding_log.number(log, i, 1))
  end
  return table.concat(parts)
end

-- Puts entries in place of those of the log.
local function replace(log, limit, bytes)
  log.shift, log.added, log.head, log.tail = 0, {}, 0, #bytes / ENTRY
  log.stored = log.tail
  log.raw = pack('<ddd', log.at, log.before, 0) .. bytes
  sliding_log.bound(log, limit)
end

-- All of the log, as `of` reads it.
function sliding_log.bytes(log, limit)
  replace(log, limit, entries_of(log, log.head, log.tail))
  return log.raw
end

-- Writes what was spent. Returns the server's error, if any.
function sliding_log.save(log, limit, now)
  local ttl = log.at + limit.window - now
  local reply
  if log.raw or log.shift ~= 0 or log.head - SLACK >= log.tail - log.head then
    reply = redis.pcall('SET', log.key, sliding_log.bytes(log, limit), 'PX', ttl + SPARE)
  else
    reply = redis.pcall('APPEND', log.key, entries_of(log, log.stored, log.tail))
    if type(reply) ~= 'table' then
      redis.call('SETRANGE', log.key, 0, pack('<ddd', log.at, log.before, log.head))
      redis.call('PEXPIRE', log.key, ttl + SPARE)
    end
  end
  return type(reply) == 'table' and reply.err or nil
end

-- Hands back from the entry of that instant, then from older ones. Returns the instant of the newest that is left, if any.
function sliding_log.hand_back(log, limit, cost, now, taken_at)
  log.raw = log.raw or redis.call('GET', log.key)
  local left, i, kept, given = cost, log.tail, {}, 0
  while i > log.head and left > 0 do
    i = i - 1
    local before = log.before
    if i > log.head then before = sliding_log.number(log, i - 1, 1) end
    local units = sliding_log.number(log, i, 1) - before
    local instant = sliding_log.number(log, i, 0)
    local back = 0
    if instant <= taken_at then back = max(0, min(left, units)) end
    left, given = left - back, given + back
    if units > back then kept[#kept + 1] = { instant, units - back } end
  end
  -- The entries in front of i stay as they are.
  local total = log.before
  if i > log.head then total = sliding_log.number(log, i - 1, 1) end
  local parts = { entries_of(log, log.head, i) }
  local newest = now
  if i > log.head then newest = sliding_log.number(log, i - 1, 0) end
  for k = #kept, 1, -1 do
    newest, total = kept[k][1], total + kept[k][2]
    parts[#parts + 1] = pack('<dd', newest, total)
  end
  log.at, log.used = max(now, log.at), total - log.before
  replace(log, limit, table.concat(parts))
  return log.used > 0 and newest or nil
end

-- Hands back, and writes. Returns the server's error, if any.
function sliding_log.refund(log, limit, cost, now, taken_at)
  local newest = sliding_log.hand_back(log, limit, cost, now, taken_at)
  local reply
  if newest then
    reply = redis.pcall('SET', log.key, log.raw, 'PX', newest + limit.window - now + SPARE)
  else
    reply = redis.pcall('DEL', log.key)
  end
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
