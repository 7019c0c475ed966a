-- Sliding log with stamps: algorithms/stamped-log.ts.
--
-- One string per count: 7 bytes of `at`, then `last` in as many bytes as hold the window, `before`, `grain` and the open
-- units in as many as hold the largest quota of the window, then the stamps, each as `last`. An instant is stored modulo
-- 256 to the power of its bytes: it is less than one window before `at`, which tells the rest.

local stamped_log = {}
-- No limit has more stamps. Segments of several limits on one count may be one more than a limit has.
local MAX_SEGMENTS = 1001

local function bytes_for(n)
  local bytes, most = 1, 256
  while most < n do bytes, most = bytes + 1, most * 256 end
  return bytes
end

-- The layout for a window, worked out once per check.
local function layout_of(limit)
  if not limit.layout then
    local instant, units = bytes_for(limit.window), bytes_for(4503599627370496 / limit.window + 1)
    limit.layout = {
      header = '<I7I' .. instant .. string.rep('I' .. units, 3),
      header_bytes = 7 + instant + 3 * units,
      stamp = '<I' .. instant,
      stamp_bytes = instant,
      modulus = 256 ^ instant,
    }
    limit.grain = max(1, ceil_div(limit.quota, limit.stamps))
  end
  return limit.layout
end

local function packed(layout, instant)
  return pack(layout.stamp, instant % layout.modulus)
end

-- A stored instant in full.
local function instant_of(log, stored)
  return log.at - (log.at - stored) % log.layout.modulus
end

-- The stamp with this index, from 0.
local function stamp_of(log, index)
  return instant_of(log, (unpack(log.layout.stamp, log.bytes, index * log.layout.stamp_bytes + 1)))
end

local function count_of(log)
  return #log.bytes / log.layout.stamp_bytes
end

local function open_units(log)
  return log.used + log.before - log.grain * count_of(log)
end

-- The bytes of the stamps [from, to).
local function stamps_in(log, from, to)
  local size = log.layout.stamp_bytes
  return string.sub(log.bytes, from * size + 1, to * size)
end

function stamped_log.open(key, limit, now)
  local layout = layout_of(limit)
  local log = {
    key = key, layout = layout, at = now, last = now, before = 0, grain = limit.grain, used = 0, bytes = '',
    shift = 0, tail = 0,
  }
  local raw = redis.pcall('GET', key)
  if not raw then return log end
  if type(raw) == 'table' then return nil, raw.err end
  local count = (#raw - layout.header_bytes) / layout.stamp_bytes
  if count < 0 or count % 1 ~= 0 or count > MAX_SEGMENTS then return log end
  local at, last, before, grain, open = unpack(layout.header, raw)
  local used = grain * count - before + open
  if not is_whole(at) or grain < 1 or before >= grain or open >= grain then return log end
  if used < 1 or used > 4503599627370496 / limit.window then return log end
  if count == 0 and before > 0 then return log end
  log.at, log.before, log.grain, log.used, log.tail = at, before, grain, used, 1
  log.last = instant_of(log, last)
  log.bytes = string.sub(raw, layout.header_bytes + 1)
  return log
end

local function clear(log)
  log.used, log.before, log.bytes = 0, 0, ''
end

function stamped_log.advance(log, limit, now)
  local ahead = log.at - now
  if ahead > limit.window then
    local stamps = {}
    for i = 1, count_of(log) do stamps[i] = packed(log.layout, stamp_of(log, i - 1) - ahead) end
    log.bytes, log.last, log.at, log.shift = table.concat(stamps), log.last - ahead, now, ahead
    return
  end
  local dead = max(now, log.at) - limit.window
  if log.last <= dead then return clear(log) end
  local head, count = 0, count_of(log)
  while head < count and stamp_of(log, head) <= dead do
    log.used = log.used - (log.grain - log.before)
    log.before = 0
    head = head + 1
  end
  if head > 0 then log.bytes = stamps_in(log, head, count) end
end

function stamped_log.fits(log, limit, cost)
  return log.used + cost <= limit.quota
end

-- Makes larger segments: each ends with the old segment that holds its last unit.
local function coarsen(log, grain)
  local count, stamps, units = count_of(log), {}, grain
  while units <= log.used do
    local segment = ceil_div(log.before + units, log.grain)
    stamps[#stamps + 1] = segment > count and packed(log.layout, log.last) or stamps_in(log, segment - 1, segment)
    units = units + grain
  end
  log.bytes, log.before, log.grain = table.concat(stamps), 0, grain
end

local function drop_oldest(log, units)
  local gone = log.before + units
  local segments, count = floor_div(gone, log.grain), count_of(log)
  log.used = log.used - units
  if segments < count then
    log.bytes, log.before = stamps_in(log, segments, count), gone - segments * log.grain
  else
    log.bytes, log.before = '', 0
  end
end

function stamped_log.spend(log, limit, cost, now)
  local units = min(cost, limit.quota)
  if units == 0 then return end
  -- A check that comes after on the same count has not opened it.
  layout_of(limit)
  if log.used == 0 then
    clear(log)
    log.grain = limit.grain
  elseif limit.grain > log.grain then
    coarsen(log, limit.grain)
  end
  local excess = log.used + units - max(limit.quota, log.used)
  if excess > 0 then drop_oldest(log, excess) end
  log.at = max(now, log.at)
  log.last = log.at
  local open = open_units(log) + units
  log.used = log.used + units
  if open >= log.grain then
    log.bytes = log.bytes .. string.rep(packed(log.layout, log.last), floor_div(open, log.grain))
  end
end

-- The log for a check that comes after on the same count, to spend from without an effect on this one.
function stamped_log.copy(log)
  local copy = {}
  for name, value in pairs(log) do copy[name] = value end
  return copy
end

-- Writes what is left. Returns the server's error, if any.
function stamped_log.save(log, limit, now)
  local layout, reply = log.layout, nil
  if log.used == 0 then
    reply = redis.pcall('DEL', log.key)
  else
    local header = pack(layout.header, log.at, log.last % layout.modulus, log.before, log.grain, open_units(log))
    reply = redis.pcall('SET', log.key, header .. log.bytes, 'PX', log.at + limit.window - now + SPARE)
  end
  return type(reply) == 'table' and reply.err or nil
end

-- Hands back the newest units, when none is behind the last stamp: a segment of which some go is open again.
local function refund_newest(log, cost)
  local left, count = min(cost, log.used), count_of(log)
  while left > 0 do
    local units = count == 1 and log.grain - log.before or log.grain
    local back = min(left, units)
    count = count - 1
    log.last = stamp_of(log, count)
    log.used, left = log.used - back, left - back
    if count == 0 then log.before = 0 end
    if back < units then break end
    if left == 0 and count > 0 then log.last = stamp_of(log, count - 1) end
  end
  if cost <= 0 and count > 0 then log.last = stamp_of(log, count - 1) end
  log.bytes = stamps_in(log, 0, count)
end

-- Hands back units of the first `ended` segments, and of the one that was open then.
local function refund_older(log, ended, cost)
  local count = count_of(log)
  local before = ended > 0 and log.grain * ended - log.before or 0
  local in_next = log.grain - (ended > 0 and 0 or log.before) - 1
  local left = min(cost, before + (ended < count and in_next or 0))
  local whole = min(floor_div(left, log.grain), max(0, ended - (log.before > 0 and 1 or 0)))
  if whole > 0 then
    log.bytes = stamps_in(log, 0, ended - whole) .. stamps_in(log, ended, count)
    log.used = log.used - whole * log.grain
  end
  if left > whole * log.grain then drop_oldest(log, left - whole * log.grain) end
end

local function refund_units(log, cost, taken_at)
  local count = count_of(log)
  local ended, left = count, cost
  while ended > 0 and stamp_of(log, ended - 1) > taken_at do ended = ended - 1 end
  if ended == count then
    local open = open_units(log)
    local back = min(left, taken_at >= log.last and open or max(0, open - 1))
    log.used, left = log.used - back, left - back
    if open == back then return refund_newest(log, left) end
  end
  refund_older(log, ended, left)
end

-- Hands back units taken at an instant, and writes. Returns the server's error, if any.
function stamped_log.refund(log, limit, cost, now, taken_at)
  log.at = max(now, log.at)
  if log.used > 0 and taken_at > log.at - limit.window then refund_units(log, cost, taken_at) end
  return stamped_log.save(log, limit, now)
end

-- When a cost that does not fit will: 0 for a cost that fits, or never can.
function stamped_log.free_at(log, limit, cost)
  if cost > limit.quota or log.used + cost <= limit.quota then return 0 end
  local segments = ceil_div(log.used + cost - limit.quota + log.before, log.grain)
  if segments > count_of(log) then return log.last + limit.window end
  return stamp_of(log, segments - 1) + limit.window
end

function stamped_log.full_at(log, limit, now)
  if log.used == 0 then return now end
  return log.last + limit.window
end
