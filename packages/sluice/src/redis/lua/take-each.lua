-- Decides requests of one check each, all by one limit of a bucket: what most calls ask. The answers equal those of
-- take-buckets.lua. Fewer arguments and no tables: with one request in a call, both cost more than the decision.
--
-- KEYS  one per request
-- ARGV  1 the latest server time in ms at which this call may still act, 0 for any
--       2 quota, 3 window
--       4 burst * window; '' or nothing: quota * window
--       5 cost * window, above 0; '' or nothing: window
--       6 the smallest quota of the limits that share the count; '' or nothing: quota
--       7 now in ms; nothing: the server's own time (tests set it)
-- Output: flat integers and strings. First the server's time; negative, and alone, when the call came too late
--       and did nothing. Then for each key: used, if the cost was taken and at is now; otherwise -1 (refused) or
--       -2 (taken), now - at, and used. For a request that failed: one string instead, the server's error.

local floor, pack, unpack, pcall = math.floor, struct.pack, struct.unpack, redis.pcall
local REFUSED, TAKEN = -1, -2

local now, spare = tonumber(ARGV[7] or ''), 3600000
if not now then
  local time = redis.call('TIME')
  now, spare = time[1] * 1000 + floor(time[2] / 1000), 1000
end
local deadline = tonumber(ARGV[1])
if deadline > 0 and now > deadline then return { -now } end

local quota, window = tonumber(ARGV[2]), tonumber(ARGV[3])
local full = tonumber(ARGV[4] or '') or quota * window
local more = tonumber(ARGV[5] or '') or window
local slowest = tonumber(ARGV[6] or '') or quota
if slowest == 0 then slowest = 1 end

local out, size = { now, 0 }, 1
for i = 1, #KEYS do
  local key = KEYS[i]
  local raw = pcall('GET', key)
  local at, used, err = now, 0, nil
  if raw then
    if type(raw) == 'table' then
      err = raw.err
    elseif #raw == 16 then
      at, used = unpack('<dd', raw)
      if not (at >= 0 and at <= 9007199254740991 and at % 1 == 0 and used >= 0 and used <= 4503599627370496 and used % 1 == 0) then
        at, used = now, 0
      end
    end
  end
  local is_set_back = at - now > window
  if is_set_back then at = now end
  local level = used > full and full or used
  if now > at then level = level - (now - at) * quota end
  if level < 0 then level = 0 end
  local fits = not err and level + more <= full
  if fits then
    if now > at then
      used = used - (now - at) * quota
      if used < 0 then used = 0 end
      at = now
    end
    used = used + more
  end
  if fits or is_set_back then
    local wait = floor(used / slowest)
    if used - wait * slowest > 0 then wait = wait + 1 end
    local ttl, reply = at - now + wait, nil
    if ttl > 0 and used > 0 then
      reply = pcall('SET', key, pack('<dd', at, used), 'PX', ttl + spare)
    else
      reply = pcall('DEL', key)
    end
    if type(reply) == 'table' then err = reply.err end
  end
  if err then
    size = size + 1
    out[size] = err
  elseif fits and at == now then
    size = size + 1
    out[size] = used
  else
    out[size + 1], out[size + 2], out[size + 3] = fits and TAKEN or REFUSED, now - at, used
    size = size + 3
  end
end
return out
