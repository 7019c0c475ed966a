-- Decides plain takes from buckets: nearly every request. As bucket.lua and take-all.lua do, without their
-- generality, since making their functions and tables for each call costs more than the decisions.
--
-- KEYS  one per check, request after request; within a request no key twice
-- ARGV  1 now in ms, or '' for the server's own time (tests set it)
--       2 the latest server time in ms at which this call may still act, 0 for any
--       3 one character for each request: that of code 48 + the number of its shape; '' when there is one shape
--       then for each shape: the number of checks, and for each check: quota, window, burst * window,
--       cost * window (a cost above 0)
-- Output: flat integers and texts. First the server's time; below 0, and alone, when the call came too late
--       and did nothing. Then check by check: used, when it was taken and at is now; otherwise -1 (refused),
--       -2 (taken) or -3 (would be allowed), now - at, and used.
--       A request that failed is one text instead, the server's error.

local floor, byte = math.floor, string.byte
local pack, unpack = struct.pack, struct.unpack
local pcall = redis.pcall
local REFUSED, TAKEN, LOOKED_AT = -1, -2, -3

local now, spare = tonumber(ARGV[1]), 3600000
if not now then
  local time = redis.call('TIME')
  now, spare = time[1] * 1000 + floor(time[2] / 1000), 1000
end
local deadline = tonumber(ARGV[2])
if deadline > 0 and now > deadline then return { -now } end
local out, size = { now }, 1

local function load(key)
  local raw = pcall('GET', key)
  if not raw then return now, 0 end
  if type(raw) == 'table' then return nil, raw.err end
  if #raw ~= 16 then return now, 0 end
  local at, used = unpack('<dd', raw)
  if at >= 0 and at <= 9007199254740991 and at % 1 == 0 and used >= 0 and used <= 4503599627370496 and used % 1 == 0 then
    return at, used
  end
  return now, 0
end

local function keep(key, at, used, quota)
  if quota == 0 then quota = 1 end
  local wait = floor(used / quota)
  if used - wait * quota > 0 then wait = wait + 1 end
  local ttl, reply = at - now + wait, nil
  if ttl > 0 and used > 0 then
    reply = pcall('SET', key, pack('<dd', at, used), 'PX', ttl + spare)
  else
    reply = pcall('DEL', key)
  end
  if type(reply) == 'table' then return reply.err end
end

local function fits(at, used, quota, full, more)
  if used > full then used = full end
  if now > at then used = used - (now - at) * quota end
  if used < 0 then used = 0 end
  return used + more <= full
end

-- Charges what fits and shows it. Returns the error, if any.
local function charge(key, at, used, quota, more)
  if now > at then
    used = used - (now - at) * quota
    if used < 0 then used = 0 end
    at = now
  end
  used = used + more
  local err = keep(key, at, used, quota)
  if err then return err end
  if at == now then
    size = size + 1
    out[size] = used
  else
    out[size + 1], out[size + 2], out[size + 3] = TAKEN, now - at, used
    size = size + 3
  end
end

-- Shows what was not charged, and keeps what a clock that was set back did to it.
local function show(key, at, used, quota, is_set_back, answer)
  if is_set_back then
    local err = keep(key, at, used, quota)
    if err then return err end
  end
  out[size + 1], out[size + 2], out[size + 3] = answer, now - at, used
  size = size + 3
end

-- Takes the text of an error in place of what was shown since `start`.
local function fail(start, err)
  for i = size, start + 1, -1 do out[i] = nil end
  size = start + 1
  out[size] = err
end

local function take_one(key, quota, window, full, more)
  local at, used = load(key)
  if not at then return used end
  local is_set_back = at - now > window
  if is_set_back then at = now end
  if fits(at, used, quota, full, more) then return charge(key, at, used, quota, more) end
  return show(key, at, used, quota, is_set_back, REFUSED)
end

local last = #KEYS
-- One limit for all, the commonest call, needs none of what follows.
if ARGV[4] == '1' and not ARGV[9] then
  local quota, window, full, more = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
  for i = 1, last do
    local start, err = size, take_one(KEYS[i], quota, window, full, more)
    if err then fail(start, err) end
  end
  return out
end

-- The checks of the request at hand; one set of tables serves all.
local ats, useds, set_back, allowed = {}, {}, {}, {}

local function take_together(shape, first, checks)
  local all = true
  for i = 1, checks do
    local at, used = load(KEYS[first + i])
    if not at then return used end
    local p = 4 * i
    local is_set_back = at - now > shape[p - 2]
    if is_set_back then at = now end
    ats[i], useds[i], set_back[i] = at, used, is_set_back
    allowed[i] = fits(at, used, shape[p - 3], shape[p - 1], shape[p])
    all = all and allowed[i]
  end
  for i = 1, checks do
    local key, quota, err = KEYS[first + i], shape[4 * i - 3], nil
    if all then
      err = charge(key, ats[i], useds[i], quota, shape[4 * i])
    else
      err = show(key, ats[i], useds[i], quota, set_back[i], allowed[i] and LOOKED_AT or REFUSED)
    end
    if err then return err end
  end
end

local arg, shapes = 4, {}
while ARGV[arg] do
  local shape = { checks = tonumber(ARGV[arg]) }
  for i = 1, 4 * shape.checks do shape[i] = tonumber(ARGV[arg + i]) end
  shapes[#shapes + 1] = shape
  arg = arg + 4 * shape.checks + 1
end

local numbers, shape = ARGV[3], shapes[1]
local first, request = 0, 1
while first < last do
  if numbers ~= '' then shape = shapes[byte(numbers, request) - 48] end
  local start, err = size, nil
  if shape.checks == 1 then
    err = take_one(KEYS[first + 1], shape[1], shape[2], shape[3], shape[4])
  else
    err = take_together(shape, first, shape.checks)
  end
  if err then fail(start, err) end
  first, request = first + shape.checks, request + 1
end
return out
