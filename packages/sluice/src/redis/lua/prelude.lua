-- What all algorithms share: exact division, and states as packed numbers under one key each.
--
-- An algorithm of two or three words is a table of functions, line for line as in its TypeScript file, over three plain
-- numbers (at, used, before) instead of an object:
--   fresh(limit, now), advance(limit, at, used, before, now), charge and spend(limit, at, used, before, cost, now),
--   refund(limit, at, used, before, cost, now, taken_at)  return at, used, before
--   fits(limit, at, used, before, cost, now)              returns a boolean
--   kept_until(limit, at, used, before, now)              returns the instant from which the state answers as none, by
--                                                         the slowest of the limits that share the count (limit.slowest)
--   largest(limit)                                        returns the most that any limit with this window counts
-- `take` in TypeScript is advance, fits and charge here. `words` comes from the table of algorithms.
-- Numbers never pass through tostring or `..`, which keep 14 digits.

local floor, max, min = math.floor, math.max, math.min
local pack, unpack = struct.pack, struct.unpack

local function ceil_div(a, b)
  local quotient = floor(a / b)
  if a - quotient * b > 0 then return quotient + 1 end
  return quotient
end

local function floor_div(a, b)
  local quotient = floor(a / b)
  if a - quotient * b < 0 then return quotient - 1 end
  return quotient
end

-- Whether this script can have written the number: whole, not negative, exact.
local function is_whole(n)
  return n >= 0 and n <= 9007199254740991 and n % 1 == 0
end

-- The state under a key. A missing key, or a value that this script did not write, is a fresh count. But if the caller
-- knows the last state and the key is missing, the server has dropped it, and the known state holds.
-- Returns nil and the server's error when the key cannot be read.
local function load(algorithm, limit, key, now)
  local raw = redis.pcall('GET', key)
  if not raw then
    if not limit.known_at then return algorithm.fresh(limit, now) end
    limit.is_dropped = true
    return limit.known_at, limit.known_used, limit.known_before
  end
  if type(raw) == 'table' then return nil, raw.err end
  if #raw ~= 8 * algorithm.words then return algorithm.fresh(limit, now) end
  local at, used, before
  if #raw == 16 then
    at, used = unpack('<dd', raw)
    before = 0
  else
    at, used, before = unpack('<ddd', raw)
  end
  local largest = algorithm.largest(limit)
  if is_whole(at) and is_whole(used) and is_whole(before) and used <= largest and before <= largest then
    return at, used, before
  end
  return algorithm.fresh(limit, now)
end

-- Keeps what is left of a state, if only an empty one, for as long as a process may remember a full one. Returns the
-- server's error, if any.
local function leave_trace(algorithm, limit, key)
  local ttl = max(2 * limit.window, ceil_div(limit.burst * limit.window, max(1, limit.slowest))) + SPARE
  local reply = redis.pcall('PEXPIRE', key, ttl)
  if reply == 0 then
    local empty = algorithm.words == 2 and pack('<dd', 0, 0) or pack('<ddd', 0, 0, 0)
    reply = redis.pcall('SET', key, empty, 'PX', ttl)
  end
  return type(reply) == 'table' and reply.err or nil
end

-- Writes a state, to expire when it answers as none for every limit that shares the count. Returns the server's error, if any.
local function save(algorithm, limit, key, at, used, before, now)
  local ttl = algorithm.kept_until(limit, at, used, before, now) - now
  local reply
  if ttl <= 0 then
    reply = redis.pcall('DEL', key)
  elseif algorithm.words == 2 then
    reply = redis.pcall('SET', key, pack('<dd', at, used), 'PX', ttl + SPARE)
  else
    reply = redis.pcall('SET', key, pack('<ddd', at, used, before), 'PX', ttl + SPARE)
  end
  return type(reply) == 'table' and reply.err or nil
end
