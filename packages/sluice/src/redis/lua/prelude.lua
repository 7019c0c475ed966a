-- What every algorithm shares: exact division, and states as packed numbers under one key each.
--
-- An algorithm is a table of the functions that algorithms/algorithm.ts describes, line for line as in its
-- TypeScript file, over three plain numbers (at, used, before) instead of an object:
--   fresh(limit, now), advance(limit, at, used, before, now), charge and spend(limit, at, used, before, cost, now),
--   refund(limit, at, used, before, cost, now, taken_at)  return at, used, before
--   fits(limit, at, used, before, cost, now)            returns a boolean
--   full_at(limit, at, used, before, now)               returns an instant
--   largest(limit)                                      returns the most that any limit with this window counts
-- `take` there is advance, fits and charge here: what follows the clock, the decision, and what an allowed cost does.
-- Numbers never pass through tostring or `..`, which keep 14 digits.

local floor, max, min = math.floor, math.max, math.min
local pack, unpack = struct.pack, struct.unpack

-- Milliseconds for which a key outlives its state: the server's clock, by which keys expire, moves on between
-- the moment a script begins and the one in which it asks for the time. A test that sets the time needs more.
local SPARE = ARGV[1] == '' and 1000 or 3600000

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

-- A number that one of us can have written: whole, not negative, exact.
local function is_whole(n)
  return n >= 0 and n <= 9007199254740991 and n % 1 == 0
end

-- The state under a key. Nothing there, or nothing that we wrote: the state of a count that has none; but when
-- the caller knows what was there, the server has dropped it, and it was that.
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

-- Lets what is left of a state, if only an empty one, live for as long as anybody may remember a full one. Returns the
-- server's error, if any.
local function leave_trace(algorithm, limit, key)
  local ttl = max(2 * limit.window, ceil_div(limit.burst * limit.window, max(1, limit.quota))) + SPARE
  local reply = redis.pcall('PEXPIRE', key, ttl)
  if reply == 0 then
    local empty = algorithm.words == 2 and pack('<dd', 0, 0) or pack('<ddd', 0, 0, 0)
    reply = redis.pcall('SET', key, empty, 'PX', ttl)
  end
  return type(reply) == 'table' and reply.err or nil
end

-- Writes a state, to live until it says nothing any more. Returns the server's error, if any.
local function save(algorithm, limit, key, at, used, before, now)
  local ttl = algorithm.full_at(limit, at, used, before, now) - now
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
