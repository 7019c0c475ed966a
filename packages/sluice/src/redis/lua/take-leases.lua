-- Decides what most requests on leased buckets are: a cost or a part of it is spent, units are leased, a lease is settled. The
-- answers equal those of take-all.lua and holds.lua, whose functions and tables cost more than the decisions. A request that
-- needs more than this (the clock was set back, a value is damaged, another kind of hold) is left to them, and so are those
-- after it.
--
-- All checks of a request are on one count. Consecutive requests on one count read it once and write it once: a run.

if ARGV[4] == '2' then
  local pcall = redis.pcall
  local SPENT, WHOLE, LEASED, UNIT, CROWD, CROWD_INTERVAL, MAX_FIELDS = 1, 0, 2, 5, 64, 50, 1000
  local shapes = {}
  for s = 1, tonumber(ARGV[3]) do
    local checks = tonumber(ARGV[arg + 1])
    local shape = { checks = checks, settles = ARGV[arg] == '5' }
    arg = arg + 2
    for i = 1, checks do
      local window, burst = tonumber(ARGV[arg + 2]), tonumber(ARGV[arg + 3])
      shape[i] = {
        quota = tonumber(ARGV[arg + 1]),
        window = window,
        burst = burst,
        -- The level that is full, and the one that no debt exceeds.
        full = burst * window,
        most = max(burst, floor(4503599627370496 / window)) * window,
        slowest = max(1, tonumber(ARGV[arg + 4])),
        life = tonumber(ARGV[arg + 8]),
        -- To settle: what stays out. To take: what to do.
        last = tonumber(ARGV[arg + 9]),
      }
      shape.lease_life = tonumber(ARGV[arg + 11]) or shape.lease_life
      arg = arg + 12
    end
    -- The arguments of a request.
    shape.width = 2 * checks
    for i = 1, checks do
      if shape[i].last == UNIT and not shape.settles then shape[i].is_unit, shape.width = true, shape.width - 2 end
    end
    shape.is_unit = shape.width == 0
    shapes[s] = shape
  end

  -- The count of the run, its limit, its numbers, its holds by id as far as they were read, and those that changed.
  local key, limit, at, used, held, leased, next_end, last_end, kept
  local known, has_all, changed, is_changed, is_new
  -- Fields that the hash will have gained. What stood in the output before the run, and how many requests it has.
  local gained, before_run, requests = 0, 1, 0

  -- Most requests concern no lease: tables are made for the first one of a run.
  local NO_HOLDS = {}

  local function mark(id, hold)
    if known == NO_HOLDS then known = {} end
    changed = changed or {}
    known[id], changed[id], is_changed = hold, true, true
  end

  -- Keeps a hold if a lease is all that it can be. Returns whether it is.
  local function note(id, raw)
    if known == NO_HOLDS then known = {} end
    if not raw then
      known[id] = false
      return true
    end
    if #raw ~= 32 then return false end
    local status, units, ends, late = unpack('<dddd', raw)
    if status ~= SPENT or late ~= 0 or not (is_whole(units) and is_whole(ends)) then return false end
    known[id] = { units, ends }
    return true
  end

  -- Spends units at an instant, also beyond the limit.
  local function spend(units, instant)
    local elapsed = instant - at
    if elapsed > 0 then
      used = max(0, used - elapsed * limit.quota)
      at = instant
    end
    used = max(used, min(used + units * limit.window, limit.most))
  end

  -- Ends the leases that are over. Returns false if other holds are among them.
  local function sweep()
    local list = pcall('HGETALL', key)
    if list.err then return false end
    local ended, left, soonest = {}, 0, 0
    for i = 1, #list, 2 do
      local id = list[i]
      if id ~= '' then
        if not note(id, list[i + 1]) then return false end
        local ends = known[id][2]
        if ends <= now then
          ended[#ended + 1] = id
        else
          left = left + 1
          soonest = soonest == 0 and ends or min(soonest, ends)
        end
      end
    end
    table.sort(ended, function(a, b) return known[a][2] < known[b][2] end)
    for i = 1, #ended do
      local id = ended[i]
      local units, ends = known[id][1], known[id][2]
      held, leased = held - units, leased - units
      if at - ends > limit.window then at = ends end
      spend(units, ends)
      mark(id, false)
    end
    gained = -#ended
    next_end = left > CROWD and max(soonest, now + CROWD_INTERVAL) or soonest
    if held == 0 then next_end, last_end = 0, 0 end
    has_all, is_changed = true, true
    return true
  end

  -- Reads a count and lets time pass. Returns false if the rest of the script has to.
  local function open(name, id, check)
    key, limit, known, changed, has_all, is_changed, is_new = name, check, NO_HOLDS, nil, false, false, false
    gained, before_run, requests = 0, size, 0
    local raw, hold
    if id == '' then
      raw = pcall('HGET', name, '')
      if type(raw) == 'table' then return false end
    else
      local both = pcall('HMGET', name, '', id)
      if both.err then return false end
      raw, hold = both[1], both[2]
    end
    if not raw then
      at, used, held, leased, next_end, last_end, kept = now, 0, 0, 0, 0, 0, 0
      has_all, is_new = true, true
      return not hold
    end
    if #raw ~= 64 then return false end
    local purge
    at, used, held, leased, next_end, last_end, purge, kept = unpack('<dddddddd', raw)
    if at % 1 + used % 1 + held % 1 + leased % 1 + next_end % 1 + last_end % 1 + kept % 1 ~= 0
      or min(at, used, held, leased, next_end, last_end, kept) < 0
      or max(used, held, last_end, kept) > 9007199254740991 then
      return false
    end
    if at > now or purge ~= 0 or held ~= leased then return false end
    if next_end > 0 and now >= next_end then return sweep() end
    return id == '' or note(id, hold)
  end

  -- Reads a hold of the run if it was not read yet. Returns false if it is another kind.
  local function find(id)
    if id == '' or known[id] ~= nil then return true end
    if has_all then return note(id, nil) end
    local raw = pcall('HGET', key, id)
    if type(raw) == 'table' then return false end
    return note(id, raw)
  end

  local function set(id, units, ends)
    mark(id, { units, ends })
    next_end = next_end == 0 and ends or min(next_end, ends)
    last_end = max(last_end, ends)
  end

  -- When what is spent and what is leased are as none.
  local function full_at()
    local instant, level = at, used
    if leased > 0 then
      if instant - last_end > limit.window then instant = last_end end
      level = max(0, level - max(0, last_end - instant) * limit.quota)
      instant = max(instant, last_end)
      level = max(level, min(level + leased * limit.window, limit.most))
    end
    if level == 0 then return now end
    return max(now, instant + ceil_div(level, limit.slowest))
  end

  -- Writes numbers and holds. Returns the reply of the command that failed, or of the last one.
  local function write(numbers)
    if not changed then return pcall('HSET', key, '', numbers) end
    local reply
    local id = next(changed)
    local hold = known[id]
    if hold and next(changed, id) == nil then
      return pcall('HSET', key, '', numbers, id, pack('<dddd', SPENT, hold[1], hold[2], 0))
    end
    local kept_ones, gone = { 'HSET', key, '', numbers }, { 'HDEL', key }
    for id in pairs(changed) do
      hold = known[id]
      if hold then
        kept_ones[#kept_ones + 1] = id
        kept_ones[#kept_ones + 1] = pack('<dddd', SPENT, hold[1], hold[2], 0)
      else
        gone[#gone + 1] = id
      end
      if #gone > MAX_FIELDS then
        reply = pcall(_G.unpack(gone))
        if type(reply) == 'table' then return reply end
        gone = { 'HDEL', key }
      end
    end
    reply = pcall(_G.unpack(kept_ones))
    if type(reply) ~= 'table' and #gone > 2 then reply = pcall(_G.unpack(gone)) end
    return reply
  end

  -- Ends the run: writes the count, to expire when it answers as none. If that fails, its requests have failed.
  local function close()
    if not is_changed then return end
    is_changed = false
    local expires, reply = max(last_end, full_at()), nil
    if max(expires, kept) <= now then
      reply = pcall('DEL', key)
    else
      -- `kept` repeats the expiry of the key, so that most writes need not set it.
      local is_later = expires > kept or is_new
      if expires > kept then kept = ceil_div(expires, KEPT_STEP) * KEPT_STEP end
      reply = write(pack('<dddddddd', at, used, held, leased, next_end, last_end, 0, kept))
      if type(reply) ~= 'table' and is_later then reply = pcall('PEXPIRE', key, kept - now + SPARE) end
    end
    if type(reply) ~= 'table' or not reply.err then return end
    for i = size, before_run + 1, -1 do out[i] = nil end
    for i = 1, requests do out[before_run + i] = reply.err end
    size = before_run + requests
  end

  local function show()
    out[size + 1], out[size + 2], out[size + 3] = now - at, used, held
    size = size + 3
    if held > 0 then
      out[size + 1], out[size + 2], out[size + 3] = leased, next_end - now, last_end - now
      size = size + 3
    end
  end

  -- Takes the cost, all of it or a part: spends it, or leases a fair part.
  local function take(check, id, cost)
    local hold, parts = known[id], 1
    if check.last == LEASED then
      local holders = (is_new and 1 or pcall('HLEN', key)) - 1 + gained
      if not hold then holders = holders + 1 end
      parts = 2 * max(1, holders)
    end
    local level = max(0, min(used, limit.most) - (now - at) * limit.quota)
    local room = floor_div(limit.full - level, limit.window) - held
    local units = floor(max(0, min(limit.burst, cost * parts, room)) / parts)
    if check.last == WHOLE and units < cost then units = 0 end
    if units > 0 and check.last == LEASED then
      if not hold then gained = gained + 1 end
      held, leased = held + units, leased + units
      local ends = now + check.life
      if hold then
        set(id, hold[1] + units, max(hold[2], ends))
      else
        set(id, units, ends)
      end
      spend(0, now)
    elseif units > 0 then
      spend(units, now)
      is_changed = true
    end
    if check.is_unit then
      size = size + 1
      out[size] = -1
    end
    size = size + 1
    out[size] = (units > 0 or cost == 0) and 1 or 0
    show()
    if check.last == WHOLE then return end
    size = size + 1
    out[size] = units
  end

  -- Books what became of a lease.
  local function settle(check, id, spent)
    local hold = known[id]
    if not hold then
      out[size + 1], out[size + 2] = 0, 0
      size = size + 2
      show()
      return
    end
    local left = min(check.last, hold[1] - spent)
    held, leased = held - hold[1] + left, leased - hold[1] + left
    spend(spent, now)
    if left > 0 then
      set(id, left, hold[2])
    else
      mark(id, false)
      gained = gained - 1
    end
    if held == 0 then next_end, last_end = 0, 0 end
    out[size + 1], out[size + 2] = left > 0 and 5 or 1, spent
    size = size + 2
    if left > 0 then
      out[size + 1], out[size + 2] = left, hold[2] - now
      size = size + 2
    end
    show()
  end

  -- Takes one unit of a count of which nothing is leased: what most requests are. Returns false if it is another one.
  local function take_unit(name, check)
    local raw = pcall('HGET', name, '')
    local since, level, keeps = now, 0, 0
    if raw then
      if type(raw) == 'table' or #raw ~= 64 then return false end
      local holds, leases, soonest, latest, purge
      since, level, holds, leases, soonest, latest, purge, keeps = unpack('<dddddddd', raw)
      if not (holds == 0 and leases == 0 and soonest == 0 and latest == 0 and purge == 0 and since >= 0 and since <= now
        and since % 1 + level % 1 + keeps % 1 == 0 and level >= 0 and level <= check.most
        and keeps >= 0 and keeps <= 9007199254740991) then
        return false
      end
      level = level - (now - since) * check.quota
      if level < 0 then level = 0 end
    end
    level = level + check.window
    if level > check.full then return false end
    local expires = now + ceil_div(level, check.slowest)
    local is_later = expires > keeps or not raw
    if expires > keeps then keeps = ceil_div(expires, KEPT_STEP) * KEPT_STEP end
    local reply = pcall('HSET', name, '', pack('<dddddddd', now, level, 0, 0, 0, 0, 0, keeps))
    if type(reply) ~= 'table' and is_later then reply = pcall('PEXPIRE', name, keeps - now + SPARE) end
    size = size + 1
    out[size] = type(reply) == 'table' and reply.err or level
    return true
  end

  local function is_of_run(name, check)
    return name == key and check.quota == limit.quota and check.window == limit.window
      and check.burst == limit.burst and check.slowest == limit.slowest
  end

  -- Decides a request in a run. Returns false if the rest of the script has to.
  local function decide(shape, checks, name)
    local is_ours = true
    if not (key and is_of_run(name, shape[1])) then
      close()
      is_ours = open(name, shape[1].is_unit and '' or ARGV[arg], shape[1])
    end
    local a = arg
    for i = 1, checks do
      if not shape[i].is_unit then
        local id = ARGV[a]
        is_ours = is_ours and find(id) and (id ~= '' or not shape.settles)
        if is_ours and shape.settles and known[id] and tonumber(ARGV[a + 1]) > known[id][1] then is_ours = false end
        a = a + 2
      end
    end
    if not is_ours then
      -- A sweep that was not finished is left to the rest.
      if requests == 0 then is_changed = false end
      return false
    end
    requests, a = requests + 1, arg
    for i = 1, checks do
      if shape[i].is_unit then
        take(shape[i], '', 1)
      elseif shape.settles then
        settle(shape[i], ARGV[a], tonumber(ARGV[a + 1]))
      else
        take(shape[i], ARGV[a], tonumber(ARGV[a + 1]))
      end
      if not shape[i].is_unit then a = a + 2 end
    end
    return true
  end

  local total = #numbers
  while request <= total do
    local shape = shapes[string.byte(numbers, request) - 48]
    local checks, name = shape.checks, KEYS[first]
    if shape.lease_life and is_learning(name, shape.lease_life, now) then
      close()
      key, size = nil, size + 1
      out[size] = 'LEARNING leases may have been lost'
    else
      if name ~= key then
        close()
        key = nil
      end
      if not (shape.is_unit and checks == 1 and not key and take_unit(name, shape[1])) then
        if not decide(shape, checks, name) then break end
      end
    end
    arg, first, request = arg + shape.width, first + checks, request + 1
  end
  close()
  if request > total then
    out[size + 1] = epoch
    return out
  end
end
