-- Reads the call, as take-all.lua describes it, unless hold-each.lua has begun it: the instant, the deadline, and where
-- the shapes and requests are.

if not now then
  now = tonumber(ARGV[1])
  if not now then
    local time = redis.call('TIME')
    now = tonumber(time[1]) * 1000 + floor(tonumber(time[2]) / 1000)
  end
  out, size = { now }, 1
  local deadline = tonumber(ARGV[2])
  if deadline > 0 and now > deadline then return { -now } end
end

-- By request the number of its shape. The next argument to read; the next key and request are in hold-each.lua.
local numbers, arg = ARGV[5], 6
