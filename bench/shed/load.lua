-- Requests of one class for wrk: wrk ... -s load.lua URL -- PRIORITY WAIT FILE
--
-- WAIT is how many milliseconds each connection pauses before a request, on average, so that the rate hardly depends on the answers.
-- Writes one line for each answer to FILE: the millisecond at which it came, the status, and how long it took in
-- microseconds, in all and until the server's handler saw it. wrk's own latencies mix the answers of all statuses.

local ffi = require('ffi')
ffi.cdef [[
  typedef struct { long seconds; long micros; } sluice_timeval;
  int gettimeofday(sluice_timeval *now, void *zone);
]]
local time = ffi.new('sluice_timeval')

local function micros()
  ffi.C.gettimeofday(time, nil)
  return tonumber(time.seconds) * 1000000 + tonumber(time.micros)
end

local priority, wait, file, headers

function init(args)
  priority, wait, file = args[1], tonumber(args[2]), assert(io.open(args[3], 'w'))
  headers = { ['x-priority'] = priority }
  -- Without it, the wrk of each class would send at the same instants as the others.
  math.randomseed(micros() % 2 ^ 31 + #priority)
end

-- At random, so that requests come as those of many clients do, and connections begin apart.
function delay()
  return math.floor(2 * wait * math.random() + 0.5)
end

function request()
  headers['x-sent'] = string.format('%.0f', micros())
  return wrk.format('GET', '/', headers)
end

function response(status, fields)
  local now = micros()
  local sent = tonumber(fields['x-sent']) or now
  local seen = tonumber(fields['x-seen']) or now
  file:write(string.format('%.0f %d %.0f %.0f\n', now / 1000, status, now - sent, seen - sent))
end
