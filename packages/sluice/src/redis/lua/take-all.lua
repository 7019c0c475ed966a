-- Decides any number of requests, each of any number of checks, at one instant by the server's clock.
--
-- Calls whose first argument begins with h are for hold-each.lua, which says what their arguments are.
--
-- KEYS  one per check, request after request
-- ARGV  1 now in ms, or '' for the server's own time (tests set it)
--       2 the latest server time in ms at which this call may still act, 0 for any
--       3 how many shapes follow; requests that differ only in their keys share one shape
--       4 1 when take-holds.lua may decide requests, 2 when take-leases.lua may; it then decides all it can, and this
--         script the rest
--       5 one character for each request: that of code 48 + the number of its shape
--       then for each shape: the operation (1 take, 2 peek, 3 refund, 4 reset, 5 settle), the number of checks, and for
--       each check: algorithm (its row in algorithms/table.ts, from 1), quota, window, burst, the smallest quota of
--       the limits that share the count, cost, flags (1 shadow, 2 count refused, 4 the server may drop counts,
--       8 units may be out, 16 candidate: charged if and only if it is allowed itself, 32 a calendar, 64 a lockout,
--       128 stamps, 256 a pool, 512 a refund that may arrive twice), taken at.
--       With flag 4, take and peek add at, used and before: the last known state, which holds if the server has
--       dropped the count. With flag 4, what refund and reset leave is kept as a trace, so that no process takes the
--       count for dropped.
--       With flag 8, there follow for a take the life of a hold, what its end does (0 free, 1 spent, 2 spent and a fair
--       part; without a hold 3: as much is spent as there is room for, 4: all is spent, 5: one unit is spent if there is
--       room), how long it is found after, and the life of leases; to settle: life or '', keep, debt, and ''.
--       With flag 32, there follow four edges of calendar periods around the caller's time.
--       With flag 64, there follow the length of the first lock, the factor from one to the next, the longest. Such a
--       check stands behind one whose refusals it counts.
--       With flag 128, there follows the largest number of stamps.
--       A check with flag 256 belongs to the one in front of it: of such a group the first that fits is charged.
--       With flag 512, there follow the id of the refund and for how long it is known.
--       then for each request, for each of its checks with flag 8 but those of one unit: the id of the hold or '', and the
--       cost; to settle what was spent
--       then, in a cluster, for requests on leased counts: the key that tells whether this server may lease in this slot
-- Output: flat integers and strings. First the server's time; negative, and alone, when the call came too late
--       and did nothing. Then for each take or peek, check by check: the answer (0 refused, 1 taken, 2 would be
--       allowed), now - at, used, and for an algorithm of three words before; for an algorithm of no words: the
--       answer, used, full at, free at, available at; for a check with flag 8 the answer and what holds.lua shows. For one
--       unit that was taken where nothing is out, used alone; else -1 stands in front.
--       For each settlement what holds.lua shows.
--       Nothing for refund and reset. For a request that failed: one string instead, the server's error.
--
-- A request reads everything before it writes anything, so that a request that cannot be decided changes nothing.
-- An algorithm of no words keeps a log: a table that its `open` returns and its other functions change.

-- By row. Made for the first check that uses it: making all of them would cost more than a decision.
local algorithms = {}
-- The functions of counts with holds, made for the first check on one.
local held
local TAKE, PEEK, REFUND, RESET = 1, 2, 3, 4
local REFUSED, TAKEN, LOOKED_AT = 0, 1, 2

local function put(value)
  size = size + 1
  out[size] = value
end

-- One count as a check sees it: its numbers at this instant, or its log. Or nil and the error.
local function view_of(check, key)
  if check.holds then return held.view_of(check, key, now) end
  local algorithm = check.algorithm
  if algorithm.words == 0 then
    local log, err = algorithm.open(key, check, now)
    if err then return nil, err end
    algorithm.advance(log, check, now)
    return { key = key, log = log, is_set_back = log.shift > 0 }
  end
  local stored_at, used, before = load(algorithm, check, key, now)
  if not stored_at then return nil, used end
  local at
  at, used, before = algorithm.advance(check, stored_at, used, before, now)
  local must_keep = at < stored_at or check.is_dropped
  return { key = key, at = at, used = used, before = before, is_set_back = must_keep }
end

local function fits(check, view)
  if check.cost == 0 then return true end
  if view.held then return held.fits(check, view, check.cost) end
  if view.log then return check.algorithm.fits(view.log, check, check.cost) end
  return check.algorithm.fits(check, view.at, view.used, view.before, check.cost, now)
end

-- The view after the cost is taken; `allowed` says whether it fits. Writes nothing.
local function spent(check, view, allowed)
  local algorithm = check.algorithm
  if check.cost == 0 then return view end
  if view.held then return held.spent(check, view, allowed) end
  if view.log then
    local log = algorithm.copy(view.log)
    algorithm.spend(log, check, check.cost, now)
    return { key = view.key, log = log }
  end
  local spend = allowed and algorithm.charge or algorithm.spend
  local at, used, before = spend(check, view.at, view.used, view.before, check.cost, now)
  return { key = view.key, at = at, used = used, before = before }
end

-- Writes a view. Returns the error, if any.
local function keep(check, view)
  if view.held then return held.keep(check, view, now) end
  if view.log then return check.algorithm.save(view.log, check, now) end
  return save(check.algorithm, check, view.key, view.at, view.used, view.before, now)
end

-- `answer` is REFUSED, TAKEN, or LOOKED_AT when the cost would fit but was not taken.
local function show(check, view, answer)
  local algorithm = check.algorithm
  if check.is_unit then put(-1) end
  put(answer)
  if view.held then return held.show(check, view, now, put) end
  if view.log then
    local remaining = max(0, check.quota - view.log.used)
    put(view.log.used)
    put(algorithm.full_at(view.log, check, now))
    put(answer == REFUSED and algorithm.free_at(view.log, check, check.cost) or 0)
    put(algorithm.free_at(view.log, check, remaining + 1))
    return
  end
  -- The age rather than the instant: it is mostly 0, and short numbers cost both sides less.
  put(now - view.at)
  put(view.used)
  if algorithm.words == 3 then put(view.before) end
end

-- `take_alone` for a count that is two or three numbers, without a view, which would cost more than the decision.
local function take_numbers(check, key, counts)
  local algorithm, cost = check.algorithm, check.cost
  local stored_at, used, before = load(algorithm, check, key, now)
  if not stored_at then return used end
  local at
  at, used, before = algorithm.advance(check, stored_at, used, before, now)
  local is_set_back = at < stored_at or check.is_dropped
  local allowed = cost == 0 or algorithm.fits(check, at, used, before, cost, now)
  if cost > 0 then
    if allowed then
      at, used, before = algorithm.charge(check, at, used, before, cost, now)
    elseif counts then
      at, used, before = algorithm.spend(check, at, used, before, cost, now)
    end
    if allowed or counts or is_set_back then
      local err = save(algorithm, check, key, at, used, before, now)
      if err then return err end
    end
  end
  out[size + 1], out[size + 2], out[size + 3] = allowed and TAKEN or REFUSED, now - at, used
  size = size + 3
  if algorithm.words == 3 then put(before) end
end

-- Decides a check by itself and shows it. `counts`: a refusal is charged too, up to full. Returns the error, if any.
local function take_alone(check, key, counts)
  if check.algorithm.words > 0 and not check.holds then return take_numbers(check, key, counts) end
  local view, err = view_of(check, key)
  if err then return err end
  if check.is_part then return held.take_part(check, view, now, put) end
  local allowed = fits(check, view)
  if check.cost > 0 then
    if allowed or counts then
      -- Nothing else sees this view: a copy would cost more than the decision.
      view = view.held and held.charge(check, view, allowed) or spent(check, view, allowed)
      err = keep(check, view)
    elseif view.is_set_back then
      -- The clock was set back and the state moved with it. A refusal keeps only this, so that time goes on.
      err = keep(check, view)
    end
  end
  if err then return err end
  show(check, view, allowed and TAKEN or REFUSED)
end

-- The state that an earlier check of the same request leaves for the same count, as this check sees it.
local function left_by(shape, nexts, first, i)
  local check = shape[i]
  if check.is_shadow then return nil end
  for j = i - 1, 1, -1 do
    if KEYS[first + j - 1] == KEYS[first + i - 1] and not shape[j].is_shadow then
      local view = nexts[j]
      if view.held then return held.left_for(check, view) end
      if view.log then return { key = view.key, log = check.algorithm.copy(view.log), is_second = true } end
      local at, used, before = check.algorithm.advance(check, view.at, view.used, view.before, now)
      return { key = view.key, at = at, used = used, before = before, is_second = true }
    end
  end
end

-- Every check that is not shadow was allowed: charge them, then each shadow check by itself.
local function commit(shape, first, views, nexts, allowed, is_idle)
  for i = 1, #shape do
    local check = shape[i]
    if check.cost > 0 and not check.is_shadow and not check.lock_for and not is_idle[i] then
      -- An earlier check has just written to this log: read it again and continue from there.
      if views[i].is_second and views[i].log then
        nexts[i] = spent(check, (view_of(check, KEYS[first + i - 1])), true)
      end
      local err = keep(check, nexts[i])
      if err then return err end
    end
  end
  for i = 1, #shape do
    if shape[i].is_shadow then
      local err = take_alone(shape[i], KEYS[first + i - 1], shape[i].counts_refused)
      if err then return err end
    else
      show(shape[i], nexts[i], not is_idle[i] and TAKEN or allowed[i] and LOOKED_AT or REFUSED)
    end
  end
end

-- Charges a check that counts refusals, and shows it. If it fits alone, it was refused for what an earlier check of the
-- request asked of the same count: then it is shown as it was found. Returns the error, if any.
local function count_refused(check, key, view, allowed)
  local start = size
  -- Shown before it is charged: the view of a long log reads from the server.
  if not allowed then show(check, view, REFUSED) end
  local length = size - start
  local err = take_alone(check, key, check.counts_refused)
  if err or allowed then return err end
  if out[start + length + 1] == REFUSED then
    for i = start + 1, start + length do out[i] = out[i + length] end
  end
  for i = start + length + 1, size do out[i] = nil end
  size = start + length
end

-- One was refused: only checks that count refusals are charged; the others show what they hold.
local function refuse(shape, first, views, allowed)
  for i = 1, #shape do
    local check, key = shape[i], KEYS[first + i - 1]
    local err
    if check.counts_refused or check.is_candidate then
      -- Spent, not held: a refused request gets no hold.
      if check.holds then check.id = '' end
      err = count_refused(check, key, views[i], allowed[i] or check.is_shadow)
    elseif check.lock_for and allowed[i] and allowed[i - 1] == false then
      local view = view_of(check, key)
      if check.cost > 0 then
        view = spent(check, view, false)
        err = keep(check, view)
      end
      if not err then show(check, view, fits(check, view) and LOOKED_AT or REFUSED) end
    else
      -- Read again: an earlier check of this request may have counted its refusal on the same key.
      local view = view_of(check, key)
      if check.cost > 0 and view.is_set_back then err = keep(check, view) end
      if not allowed[i] then view = views[i] end
      if not err then show(check, view, allowed[i] and fits(check, view) and LOOKED_AT or REFUSED) end
    end
    if err then return err end
  end
end

local function take_together(shape, first)
  local views, nexts, allowed, all = {}, {}, {}, true
  -- Checks of a group that pay nothing, since another does.
  local is_idle, is_paid = {}, false
  for i = 1, #shape do
    local check = shape[i]
    if check.is_part then
      -- Takes what there is when all else is charged, and refuses nothing.
      allowed[i] = true
    else
      local view, err = left_by(shape, nexts, first, i), nil
      if not view then
        view, err = view_of(check, KEYS[first + i - 1])
        if err then return err end
      end
      views[i] = view
      allowed[i] = fits(check, view)
      if not check.is_pool then is_paid = false end
      is_idle[i] = is_paid or not allowed[i]
      nexts[i] = is_idle[i] and view or spent(check, view, true)
      if not is_idle[i] then is_paid = true end
      local is_last = not (shape[i + 1] and shape[i + 1].is_pool)
      if is_last and not is_paid and not check.is_shadow then all = false end
    end
  end
  if all then return commit(shape, first, views, nexts, allowed, is_idle) end
  return refuse(shape, first, views, allowed)
end

local function peek(shape, first)
  for i = 1, #shape do
    local view, err = view_of(shape[i], KEYS[first + i - 1])
    if err then return err end
    show(shape[i], view, fits(shape[i], view) and LOOKED_AT or REFUSED)
  end
end

-- Marks a refund as done. Returns whether it was done before, and the error, if any. The mark is in the slot of its count.
local function mark(check, key)
  local reply = redis.pcall('SET', key .. ':' .. check.once, '', 'NX', 'PX', check.once_life)
  if not reply then return true end
  return false, reply.err
end

local function refund(shape, first)
  for i = 1, #shape do
    local check, key = shape[i], KEYS[first + i - 1]
    local algorithm, taken_at = check.algorithm, check.taken_at or now
    local is_done, err = false, nil
    if check.once then is_done, err = mark(check, key) end
    if is_done or err then
      -- A second arrival.
    elseif check.holds then
      err = held.refund(check, key, now, taken_at)
    elseif algorithm.words == 0 then
      local log
      log, err = algorithm.open(key, check, now)
      if log and log.tail > 0 then
        algorithm.advance(log, check, now)
        err = algorithm.refund(log, check, check.cost, now, taken_at)
      end
    elseif redis.call('EXISTS', key) == 1 then
      local at, used, before = load(algorithm, check, key, now)
      if at then
        at, used, before = algorithm.advance(check, at, used, before, now)
        at, used, before = algorithm.refund(check, at, used, before, check.cost, now, taken_at)
        err = save(algorithm, check, key, at, used, before, now)
        if not err and check.leaves_trace then err = leave_trace(algorithm, check, key) end
      else
        err = used
      end
    end
    if err then
      if check.once and not is_done then redis.pcall('DEL', key .. ':' .. check.once) end
      return err
    end
  end
end

local function reset(shape, first)
  for i = 1, #shape do
    local check, key = shape[i], KEYS[first + i - 1]
    local reply = redis.pcall('DEL', key)
    local err = type(reply) == 'table' and reply.err or nil
    if not err and check.leaves_trace and check.algorithm.words > 0 and not check.holds then
      err = leave_trace(check.algorithm, check, key)
    end
    if err then return err end
  end
end

local function settle(shape, first)
  for i = 1, #shape do
    local err = held.settle(shape[i], KEYS[first + i - 1], now, put)
    if err then return err end
  end
end

-- The arguments of requests that are decided already stand between those of the shapes and those of the others.
local rest_of_arguments = arg
arg = 6
local shapes = {}
for s = 1, tonumber(ARGV[3]) do
  local shape = { operation = tonumber(ARGV[arg]) }
  local checks = tonumber(ARGV[arg + 1])
  arg = arg + 2
  for i = 1, checks do
    local row, flags = tonumber(ARGV[arg]), tonumber(ARGV[arg + 6])
    local algorithm = algorithms[row]
    if not algorithm then
      algorithm = makers[row]()
      algorithms[row] = algorithm
    end
    shape[i] = {
      algorithm = algorithm,
      quota = tonumber(ARGV[arg + 1]),
      window = tonumber(ARGV[arg + 2]),
      burst = tonumber(ARGV[arg + 3]),
      slowest = tonumber(ARGV[arg + 4]),
      cost = tonumber(ARGV[arg + 5]),
      is_shadow = flags % 2 == 1,
      counts_refused = flags % 4 >= 2,
      is_candidate = flags % 32 >= 16,
      taken_at = tonumber(ARGV[arg + 7]),
    }
    arg = arg + 8
    local traces = flags % 8 >= 4
    if flags % 16 >= 8 then
      held = held or make_holds()
      shape.has_holds, shape[i].holds = true, true
      shape[i].life = tonumber(ARGV[arg])
      if shape.operation > RESET then
        shape[i].kept, shape[i].debt = tonumber(ARGV[arg + 1]), tonumber(ARGV[arg + 2])
      else
        shape[i].on_end, shape[i].late = tonumber(ARGV[arg + 1]), tonumber(ARGV[arg + 2])
        shape[i].lease_life = tonumber(ARGV[arg + 3])
        shape.lease_life = shape[i].lease_life or shape.lease_life
        if shape[i].on_end == 2 then shape[i].on_end, shape[i].is_part = 1, true end
        if shape[i].on_end >= 3 then shape[i].is_part, shape[i].is_booked = true, shape[i].on_end == 4 end
        if shape[i].on_end == 5 then shape[i].is_unit = true end
      end
      arg = arg + 4
    elseif traces and shape.operation >= REFUND then
      shape[i].leaves_trace = true
    elseif traces then
      shape[i].known_at, shape[i].known_used = tonumber(ARGV[arg]), tonumber(ARGV[arg + 1])
      shape[i].known_before = tonumber(ARGV[arg + 2])
      arg = arg + 3
    end
    if flags % 64 >= 32 then
      local edges = {}
      for e = 1, 4 do edges[e] = tonumber(ARGV[arg + e - 1]) end
      shape[i].edges = edges
      arg = arg + 4
    end
    if flags % 128 >= 64 then
      shape[i].lock_for, shape[i].lock_grow = tonumber(ARGV[arg]), tonumber(ARGV[arg + 1])
      shape[i].lock_up_to = tonumber(ARGV[arg + 2])
      arg = arg + 3
    end
    shape[i].is_pool = flags % 512 >= 256
    if flags % 256 >= 128 then
      shape[i].stamps = tonumber(ARGV[arg])
      arg = arg + 1
    end
    if flags >= 512 then
      shape[i].once, shape[i].once_life = ARGV[arg], ARGV[arg + 1]
      arg = arg + 2
    end
  end
  shapes[s] = shape
end

if request > 1 then arg = rest_of_arguments end

-- Reads what only this request says of its holds.
local function read_holds(shape)
  for i = 1, #shape do
    local check = shape[i]
    if check.is_unit then
      check.id, check.cost, check.units, check.asked = '', 1, nil, nil
    elseif check.holds then
      check.id = ARGV[arg]
      if shape.operation > RESET then
        check.spent = tonumber(ARGV[arg + 1])
      else
        check.cost, check.units, check.asked = tonumber(ARGV[arg + 1]), nil, nil
      end
      arg = arg + 2
    end
  end
end

while request <= #numbers do
  local shape = shapes[string.byte(numbers, request) - 48]
  request = request + 1
  if shape.has_holds then read_holds(shape) end
  local start = size
  local err
  if shape.operation == TAKE and shape.lease_life and is_learning(KEYS[first], shape.lease_life, now) then
    err = 'LEARNING leases may have been lost'
  elseif shape.operation == TAKE then
    if #shape == 1 then
      err = take_alone(shape[1], KEYS[first], shape[1].counts_refused)
    else
      err = take_together(shape, first)
    end
  elseif shape.operation == PEEK then
    err = peek(shape, first)
  elseif shape.operation == REFUND then
    err = refund(shape, first)
  elseif shape.operation == RESET then
    err = reset(shape, first)
  else
    err = settle(shape, first)
  end
  if err then
    for i = size, start + 1, -1 do out[i] = nil end
    size = start
    put(err)
  end
  first = first + #shape
end
return out
