-- Requests of one class for wrk: wrk ... -s load.lua URL -- PRIORITY WAIT FILE
--
-- WAIT is how many milliseconds each connection pauses before a request, so that the rate hardly depends on the answers.
-- Writes one line for each answer to FILE: the millisecond at which it came, the status, and how long it took in
-- microseconds. wrk's own latencies mix the answers of all statuses.

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
-- Connections begin apart, so that their requests do not come together.
local started = 0

function init(args)
  priority, wait, file = args[1], tonumber(args[2]), assert(io.open(args[3], 'w'))
  headers = { ['x-priority'] = priority }
end

function delay()
  started = started + 1
  return math.floor(started <= 2000 and wait * math.random() or wait)
end

function request()
  headers['x-sent'] = string.format('%.0f', micros())
  return wrk.format('GET', '/', headers)
end

function response(status, fields)
  local now = micros()
  local sent = tonumber(fields['x-sent']) or now
  file:write(string.format('%.0f %d %.0f\n', now / 1000, status, now - sent))
end
