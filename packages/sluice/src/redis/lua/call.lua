-- Reads the call, as take-all.lua describes it: the instant, the deadline, and where the shapes and requests are.

local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + floor(tonumber(time[2]) / 1000)
end
local out, size = { now }, 1
local deadline = tonumber(ARGV[2])
if deadline > 0 and now > deadline then return { -now } end

-- By request the number of its shape. The next argument, key and request to read.
local numbers, arg, first, request = ARGV[5], 6, 1, 1

-- Counts with holds are kept to the next multiple of so many milliseconds, so that most writes need not set an expiry.
local KEPT_STEP = 65536
