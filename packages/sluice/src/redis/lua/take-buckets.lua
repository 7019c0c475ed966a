-- Decides plain takes from buckets, which are most requests. The answers equal those of take-all.lua, whose functions
-- and tables, made anew for each call, cost more than the decisions.
--
-- KEYS  one per check, request after request; within a request no key twice
-- ARGV  1 now in ms, or '' for the server's own time (tests set it)
--       2 the latest server time in ms at which this call may still act, 0 for any
--       3 one character for each request: that of code 48 + the number of its shape; '' when there is one shape
--       then for each shape: the number of checks, and for each check: quota, window, burst * window,
--       cost * window (a cost above 0), the smallest quota of the limits that share the count
-- Output: flat integers and strings. First the server's time; negative, and alone, when the call came too late
--       and did nothing. Then check by check: used, if the cost was taken and at is now; otherwise -1 (refused),
--       -2 (taken) or -3 (would be allowed), now - at, and used.
--       For a request that failed: one string instead, the server's error.

local floor, pack, unpack, pcall = math.floor, struct.pack, struct.unpack, redis.pcall
local REFUSED, TAKEN, LOOKED_AT = -1, -2, -3

local now, spare = tonumber(ARGV[1]), 3600000
if not now then
  local time = redis.call('TIME')
  now, spare = time[1] * 1000 + floor(time[2] / 1000), 1000
end
local deadline = tonumber(ARGV[2])
if deadline > 0 and now > deadline then return { -now } end

local shapes, arg = {}, 4
while ARGV[arg] do
  local checks = tonumber(ARGV[arg])
  local quota, window, full, more = ARGV[arg + 1], ARGV[arg + 2], ARGV[arg + 3], ARGV[arg + 4]
  local slowest = tonumber(ARGV[arg + 5])
  local shape = { tonumber(quota), tonumber(window), tonumber(full), tonumber(more), slowest, checks = checks }
  for i = 6, 5 * checks do shape[i] = tonumber(ARGV[arg + i]) end
  shapes[#shapes + 1] = shape
  arg = arg + 5 * checks + 1
end

-- No functions: making them for each call would cost as much as a decision.
local out, size = { now, 0 }, 1
-- Of the checks of the request at hand: their states, whether they fit, whether the clock was set back behind them.
local ats, useds, fits, is_set_back = { 0 }, { 0 }, { true }, { false }
local numbers, shape = ARGV[3], shapes[1]
local first, last, request = 0, #KEYS, 1
while first < last do
  if numbers ~= '' then shape = shapes[string.byte(numbers, request) - 48] end
  local checks, start, all, err = shape.checks, size, true, nil

  for i = 1, checks do
    local p = 5 * i
    local quota, full = shape[p - 4], shape[p - 2]
    local raw = pcall('GET', KEYS[first + i])
    local at, used = now, 0
    if raw then
      if type(raw) == 'table' then
        err = raw.err
        break
      end
      if #raw == 16 then at, used = unpack('<dd', raw) end
      if not (at >= 0 and at <= 9007199254740991 and at % 1 == 0 and used >= 0 and used <= 4503599627370496 and used % 1 == 0) then
        at, used = now, 0
      end
    end
    local is_back = at - now > shape[p - 3]
    if is_back then at = now end
    local level = used > full and full or used
    if now > at then level = level - (now - at) * quota end
    if level < 0 then level = 0 end
    local fit = level + shape[p - 1] <= full
    all = all and fit
    ats[i], useds[i], fits[i], is_set_back[i] = at, used, fit, is_back
  end

  for i = 1, err and 0 or checks do
    local p = 5 * i
    local at, used = ats[i], useds[i]
    if all then
      if now > at then
        used = used - (now - at) * shape[p - 4]
        if used < 0 then used = 0 end
        at = now
      end
      used = used + shape[p - 1]
    end
    if all or is_set_back[i] then
      local slowest = shape[p]
      if slowest == 0 then slowest = 1 end
      local wait = floor(used / slowest)
      if used - wait * slowest > 0 then wait = wait + 1 end
      local ttl, reply = at - now + wait, nil
      if ttl > 0 and used > 0 then
        reply = pcall('SET', KEYS[first + i], pack('<dd', at, used), 'PX', ttl + spare)
      else
        reply = pcall('DEL', KEYS[first + i])
      end
      if type(reply) == 'table' and reply.err then
        err = reply.err
        break
      end
    end
    if all and at == now then
      size = size + 1
      out[size] = used
    else
      out[size + 1], out[size + 2], out[size + 3] = all and TAKEN or fits[i] and LOOKED_AT or REFUSED, now - at, used
      size = size + 3
    end
  end

  if err then
    for i = size, start + 2, -1 do out[i] = nil end
    size = start + 1
    out[size] = err
  end
  first, request = first + checks, request + 1
end
return out
