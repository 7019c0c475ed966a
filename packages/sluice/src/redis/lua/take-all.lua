-- Decides any number of requests, each of any number of checks, at one instant by the server's clock.
--
-- KEYS  one per check, request after request
-- ARGV  1 now in ms, or '' for the server's own time (tests set it)
--       2 the latest server time in ms at which this call may still act, 0 for any
--       3 how many shapes follow; requests alike in all but their keys share one shape
--       then for each shape: the operation (1 take, 2 peek, 3 give, 4 reset), the number of checks, and for
--       each check: algorithm (1 to 3 buckets, 4 fixed window, 5 sliding window, 6 sliding log), quota,
--       window, burst, cost, flags (1 shadow, 2 count refused), taken at
--       then for each request the number of its shape
-- Output: flat integers and texts. First the server's time; below 0, and alone, when the call came too late
--       and did nothing. Then for each take or peek, check by check: allowed (1 or 0), at, used, before; for the
--       sliding log: allowed, used, full at, free at, available at. Nothing for give and reset. A request that
--       failed is one text instead, the server's error.
--
-- A request reads everything before it writes anything, so that one that cannot be decided changes nothing.

local algorithms = { bucket, bucket, bucket, fixed_window, sliding_window }
local LOG, SHADOW, COUNT_REFUSED = 6, 1, 2
local TAKE, PEEK, GIVE, RESET = 1, 2, 3, 4

local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + floor(tonumber(time[2]) / 1000)
end
local out, size = { now }, 1
local deadline = tonumber(ARGV[2])
if deadline > 0 and now > deadline then return { -now } end

local function put(value)
  size = size + 1
  out[size] = value
end

local function has(flags, flag)
  return floor(flags / flag) % 2 == 1
end

-- One count as a check sees it: its numbers at this instant, or its log. Or nil and the error.
local function view_of(check, key)
  if check.algorithm == LOG then
    local log, err = sliding_log.open(key)
    if err then return nil, err end
    log = log or sliding_log.empty(key, now)
    sliding_log.advance(log, check, now)
    return { key = key, log = log, used = log.used }
  end
  local algorithm = algorithms[check.algorithm]
  local at, used, before = load(algorithm, check, key, now)
  if not at then return nil, used end
  at, used, before = algorithm.advance(check, at, used, before, now)
  return { key = key, at = at, used = used, before = before }
end

local function fits(check, view)
  if check.cost == 0 then return true end
  if view.log then return view.used + check.cost <= check.quota end
  return algorithms[check.algorithm].fits(check, view.at, view.used, view.before, check.cost, now)
end

-- The view after the cost is taken, for the next check on the same count. Writes nothing.
local function spent(check, view)
  if view.log then
    return { key = view.key, log = view.log, used = min(view.used + check.cost, check.quota) }
  end
  local at, used, before = algorithms[check.algorithm].spend(check, view.at, view.used, view.before, check.cost)
  return { key = view.key, at = at, used = used, before = before }
end

-- Takes the cost and writes. Returns the view to show, or nil and the error.
local function commit(check, view)
  if view.log then
    local err = sliding_log.spend(view.log, check, check.cost, now)
    if err then return nil, err end
    view.used = view.log.used
    return view
  end
  local next = spent(check, view)
  local err = save(algorithms[check.algorithm], check, view.key, next.at, next.used, next.before, now)
  if err then return nil, err end
  return next
end

local function show(check, view, allowed)
  put(allowed and 1 or 0)
  if view.log then
    local remaining = max(0, check.quota - view.log.used)
    put(view.log.used)
    put(sliding_log.full_at(view.log, check, now))
    put(allowed and 0 or sliding_log.free_at(view.log, check, check.cost))
    put(sliding_log.free_at(view.log, check, remaining + 1))
    return
  end
  put(view.at)
  put(view.used)
  put(view.before)
end

-- The earlier enforced check of the same request on the same count.
local function twin_of(shape, views, first, i)
  for j = i - 1, 1, -1 do
    if views[j].next and KEYS[first + j - 1] == KEYS[first + i - 1] then return j end
  end
end

-- Decides a check by itself, on the view or on what it reads. Returns the view and whether it was allowed.
local function take_alone(check, key, view)
  local err
  if not view then
    view, err = view_of(check, key)
    if err then return nil, err end
  end
  local allowed = fits(check, view)
  if check.cost > 0 and (allowed or has(check.flags, COUNT_REFUSED)) then
    view, err = commit(check, view)
    if err then return nil, err end
  end
  return view, allowed
end

local function take_one(check, key)
  local view, allowed = take_alone(check, key)
  if not view then return allowed end
  show(check, view, allowed)
end

local function take_together(shape, first)
  local views, allowed, all, twins = {}, {}, true, false
  for i = 1, #shape do
    local check = shape[i]
    local is_shadow = has(check.flags, SHADOW)
    local twin = not is_shadow and twin_of(shape, views, first, i)
    local view, err
    if twin then
      twins, view = true, views[twin].next
      view = { key = view.key, log = view.log, at = view.at, used = view.used, before = view.before }
    else
      view, err = view_of(check, KEYS[first + i - 1])
      if err then return err end
    end
    views[i] = view
    allowed[i] = fits(check, view)
    if not is_shadow then
      if not allowed[i] then all = false end
      view.next = allowed[i] and check.cost > 0 and spent(check, view) or view
    end
  end
  -- Enforced checks first, then shadow checks, which read anew what the others may have left behind.
  for pass = 1, 2 do
    for i = 1, #shape do
      local check, key = shape[i], KEYS[first + i - 1]
      local is_shadow = has(check.flags, SHADOW)
      if is_shadow == (pass == 2) then
        local view, answer = views[i], allowed[i]
        if all and is_shadow then
          view, answer = take_alone(check, key)
        elseif all then
          if check.cost > 0 then
            local err
            view, err = commit(check, view)
            if err then return err end
          end
        elseif has(check.flags, COUNT_REFUSED) then
          view, answer = take_alone(check, key)
        elseif answer and twins then
          view, answer = view_of(check, key), true
        end
        if not view then return answer end
        views[i], allowed[i] = view, answer
      end
    end
  end
  for i = 1, #shape do show(shape[i], views[i], allowed[i]) end
end

local function peek(shape, first)
  for i = 1, #shape do
    local view, err = view_of(shape[i], KEYS[first + i - 1])
    if err then return err end
    show(shape[i], view, fits(shape[i], view))
  end
end

local function give(shape, first)
  for i = 1, #shape do
    local check, key = shape[i], KEYS[first + i - 1]
    local taken_at = check.taken_at or now
    local err
    if check.algorithm == LOG then
      local log
      log, err = sliding_log.open(key)
      if log then
        sliding_log.advance(log, check, now)
        err = sliding_log.give(log, check, check.cost, now, taken_at)
      end
    elseif redis.call('EXISTS', key) == 1 then
      local algorithm = algorithms[check.algorithm]
      local at, used, before = load(algorithm, check, key, now)
      if not at then return used end
      at, used, before = algorithm.advance(check, at, used, before, now)
      at, used, before = algorithm.give(check, at, used, before, check.cost, taken_at)
      err = save(algorithm, check, key, at, used, before, now)
    end
    if err then return err end
  end
end

local function reset(shape, first)
  for i = 1, #shape do
    local reply = redis.pcall('DEL', KEYS[first + i - 1])
    if type(reply) == 'table' then return reply.err end
  end
end

local arg = 4
local shapes = {}
for s = 1, tonumber(ARGV[3]) do
  local shape = { operation = tonumber(ARGV[arg]) }
  local checks = tonumber(ARGV[arg + 1])
  arg = arg + 2
  for i = 1, checks do
    shape[i] = {
      algorithm = tonumber(ARGV[arg]),
      quota = tonumber(ARGV[arg + 1]),
      window = tonumber(ARGV[arg + 2]),
      burst = tonumber(ARGV[arg + 3]),
      cost = tonumber(ARGV[arg + 4]),
      flags = tonumber(ARGV[arg + 5]),
      taken_at = tonumber(ARGV[arg + 6]),
    }
    arg = arg + 7
  end
  shapes[s] = shape
end

local first = 1
for request = arg, #ARGV do
  local shape = shapes[tonumber(ARGV[request])]
  local start = size
  local err
  if shape.operation == TAKE then
    if #shape == 1 then err = take_one(shape[1], KEYS[first]) else err = take_together(shape, first) end
  elseif shape.operation == PEEK then
    err = peek(shape, first)
  elseif shape.operation == GIVE then
    err = give(shape, first)
  else
    err = reset(shape, first)
  end
  if err then
    for i = size, start + 1, -1 do out[i] = nil end
    size = start
    put(err)
  end
  first = first + #shape
end
return out
