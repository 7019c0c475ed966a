-- Counts with units out: stores/holds/held-count.ts. The algorithm counts what is spent; what is out takes room beside it.
--
-- One hash per count. Field '' holds the numbers: at, used, out, leased, next_end, last_end, next_purge, kept_until, and
-- before for an algorithm of three words, or all of the log for one of no words. Every other field is a hold by its id:
-- status, units, end, late.
-- A view is these numbers at the instant `own`, with the holds that were read and those that changed, not yet written.
-- Of a log, `at` and `used` of the view repeat those of view.log.

local holds = {}
local FREE, SPENT, ENDED, SETTLED = 0, 1, 2, 3
local MAX_PRODUCT, SETTLED_KEPT, PURGE_INTERVAL = 4503599627370496, 10000, 10000
-- Leases of one count from which on ended ones are searched every so many milliseconds, and not at each call.
local CROWD, CROWD_INTERVAL = 64, 50
-- Fields in one command: Lua's stack has an end.
local MAX_FIELDS = 1000

local function raised_of(check)
  local raised = check.raised
  if not raised then
    local burst = max(check.burst, floor(MAX_PRODUCT / check.window))
    local quota = check.algorithm.has_burst and check.quota or burst
    raised = { quota = quota, window = check.window, burst = burst, slowest = check.slowest, edges = check.edges }
    check.raised = raised
  end
  return raised
end

-- Lets time pass in what is spent.
local function pass(check, view, now)
  local algorithm, log = check.algorithm, view.log
  if log then
    algorithm.advance(log, check, now)
    view.at, view.used = log.at, log.used
  else
    view.at, view.used, view.before = algorithm.advance(check, view.at, view.used, view.before, now)
  end
end

-- Spends units at an instant, also beyond the limit.
local function charge_at(check, view, units, now)
  local algorithm, log, raised = check.algorithm, view.log, raised_of(check)
  if log then
    algorithm.spend(log, raised, units, now)
    view.at, view.used = log.at, log.used
  else
    view.at, view.used, view.before = algorithm.spend(raised, view.at, view.used, view.before, units, now)
  end
end

-- The last instant at which units of a lease were spent. A lease that ends with its window was spent in that window.
local function last_of(check, ends)
  return check.algorithm.is_aligned and ends - 1 or ends
end

-- Sends a command. Returns the server's error, if any.
local function send(...)
  local reply = redis.pcall(...)
  return type(reply) == 'table' and reply.err or nil
end

local function is_out(hold)
  return hold[1] == FREE or hold[1] == SPENT
end

local function unpacked(raw)
  if not raw or #raw ~= 32 then return nil end
  local status, units, ends, late = unpack('<dddd', raw)
  if status <= SETTLED and is_whole(status) and is_whole(units) and is_whole(ends) and is_whole(late) then
    return { status, units, ends, late }
  end
end

-- All holds by id; those that were read or changed before stay as they are.
local function all_of(view)
  if view.has_all then return view.known end
  local list = redis.call('HGETALL', view.key)
  for i = 1, #list, 2 do
    local id = list[i]
    if id ~= '' and view.known[id] == nil then view.known[id] = unpacked(list[i + 1]) or false end
  end
  view.has_all = true
  return view.known
end

local function change(view, id, hold)
  view.known[id] = hold or false
  view.changed[id] = true
end

local function shift(view, by)
  local names = { 'next_end', 'last_end', 'next_purge' }
  for i = 1, 3 do
    if view[names[i]] > 0 then view[names[i]] = max(1, view[names[i]] - by) end
  end
  view.kept_until = max(0, view.kept_until - by)
  for id, hold in pairs(all_of(view)) do
    if hold then change(view, id, { hold[1], hold[2], max(1, hold[3] - by), hold[4] }) end
  end
  view.is_set_back = true
end

local function sweep(check, view, now)
  local algorithm = check.algorithm
  local ended, next_end, is_closed = {}, 0, false
  for id, hold in pairs(all_of(view)) do
    if hold then
      local is_over = hold[3] <= now
      if is_out(hold) then
        if is_over then
          ended[#ended + 1] = { id, hold }
        else
          next_end = next_end == 0 and hold[3] or min(next_end, hold[3])
        end
      elseif is_over then
        change(view, id, nil)
      else
        is_closed = true
      end
    end
  end
  table.sort(ended, function(a, b) return a[2][3] < b[2][3] end)
  for i = 1, #ended do
    local id, hold = ended[i][1], ended[i][2]
    local units, ends, late = hold[2], hold[3], hold[4]
    view.out = view.out - units
    if hold[1] == SPENT then
      view.leased = view.leased - units
      local last = last_of(check, ends)
      pass(check, view, last)
      charge_at(check, view, units, last)
    end
    if hold[1] == FREE and ends + late > now then
      change(view, id, { ENDED, 0, ends + late, late })
      is_closed = true
    else
      change(view, id, nil)
    end
  end
  -- With many leases one ends at nearly every call. They take room until they are looked at, so later is safe.
  -- Not so in windows, where all leases end at the edge and would be charged to the next one.
  local left = 0
  for _, hold in pairs(view.known) do
    if hold then left = left + 1 end
  end
  if algorithm.has_burst and left > CROWD and view.leased == view.out then
    next_end = max(next_end, now + CROWD_INTERVAL)
  end
  view.next_end = next_end
  if view.out == 0 then view.next_end, view.last_end = 0, 0 end
  view.next_purge = is_closed and now + PURGE_INTERVAL or 0
  view.is_set_back = true
end

local function advance(check, view, now)
  local at = view.at
  if now < at then
    pass(check, view, now)
    if view.at < at then shift(view, at - view.at) end
  end
  local own = max(now, view.at)
  view.own = own
  local is_due = view.next_end > 0 and own >= view.next_end
  if is_due or (view.next_purge > 0 and own >= view.next_purge) then sweep(check, view, own) end
  pass(check, view, own)
end

-- The numbers in a packed field, or nil if this script did not write it.
local function read(check, view, raw, now)
  local algorithm = check.algorithm
  local is_log = algorithm.words == 0
  if not raw or #raw < 64 or (not is_log and #raw ~= (algorithm.words == 3 and 72 or 64)) then return nil end
  local n = { unpack(algorithm.words == 3 and '<ddddddddd' or '<dddddddd', raw) }
  for i = 1, algorithm.words == 3 and 9 or 8 do
    if not is_whole(n[i]) then return nil end
  end
  view.at, view.used, view.out, view.leased, view.next_end, view.last_end, view.next_purge, view.kept_until =
    n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8]
  view.before = algorithm.words == 3 and n[9] or 0
  if is_log then
    view.log = algorithm.of(string.sub(raw, 65), check, now)
    view.log.at, view.used = view.at, view.log.used
  end
  return view
end

-- One count as a check sees it. Or nil and the error.
function holds.view_of(check, key, now)
  local algorithm, id = check.algorithm, check.id
  local view = { key = key, held = true, known = {}, changed = {} }
  local raw = redis.pcall('HMGET', key, '', id)
  if raw.err then return nil, raw.err end
  if read(check, view, raw[1], now) then
    view.known[id] = unpacked(raw[2]) or false
  else
    if algorithm.words == 0 then
      view.at, view.used, view.before, view.log = now, 0, 0, algorithm.of('', check, now)
    else
      view.at, view.used, view.before = algorithm.fresh(check, now)
    end
    view.out, view.leased, view.next_end, view.last_end, view.next_purge, view.kept_until = 0, 0, 0, 0, 0, 0
    view.is_damaged, view.has_all = raw[1] or raw[2], true
  end
  advance(check, view, now)
  return view
end

-- A view with numbers of its own.
local function copy_of(check, view)
  local copy = {}
  for name, value in pairs(view) do copy[name] = value end
  if view.log then copy.log = check.algorithm.copy(view.log) end
  copy.known, copy.changed = {}, {}
  for id, hold in pairs(view.known) do copy.known[id] = hold end
  for id in pairs(view.changed) do copy.changed[id] = true end
  return copy
end

-- The view that an earlier check of the request has left, as a second check on the same count sees it.
function holds.left_for(check, view)
  local copy, id = copy_of(check, view), check.id
  if copy.known[id] == nil and not copy.has_all then
    copy.known[id] = unpacked(redis.call('HGET', view.key, id)) or false
  end
  return copy
end

function holds.fits(check, view, cost)
  local raised = raised_of(check)
  local wanted = cost + view.out + raised.burst - check.burst
  if view.log then return check.algorithm.fits(view.log, raised, wanted) end
  return check.algorithm.fits(raised, view.at, view.used, view.before, wanted, view.own)
end

-- The most units from `low` to `high` that fit if the limit is exceeded by `debt` at most; `low` if none do.
local function room(check, view, low, high, debt)
  if holds.fits(check, view, high - debt) then return high end
  high = high - 1
  while low < high do
    local middle = low + ceil_div(high - low, 2)
    if holds.fits(check, view, middle - debt) then low = middle else high = middle - 1 end
  end
  return low
end

local function spend(check, view, units)
  charge_at(check, view, units, view.own)
end

local function note_end(view, ends, late)
  view.next_end = view.next_end == 0 and ends or min(view.next_end, ends)
  view.last_end = max(view.last_end, ends)
  if late > 0 then view.kept_until = max(view.kept_until, ends + late) end
end

-- Changes the view as if the cost was taken: sent out if the check names a hold, else spent. Writes nothing. Returns the view.
function holds.charge(check, view, allowed)
  local cost, id = check.cost, check.id
  if not allowed then
    spend(check, view, room(check, view, 0, cost, 0))
    return view
  end
  if id == '' then
    spend(check, view, cost)
    return view
  end
  local now, hold = view.own, view.known[id]
  local life = check.life
  if check.on_end == SPENT and check.algorithm.is_aligned then life = min(life, check.window - now % check.window) end
  local ends, units, status = now + life, cost, check.on_end
  if hold and is_out(hold) then
    ends, units, status = max(hold[3], ends), hold[2] + cost, hold[1]
  end
  change(view, id, { status, units, ends, check.late })
  view.out = view.out + cost
  if status == SPENT then view.leased = view.leased + cost end
  note_end(view, ends, check.late)
  spend(check, view, 0)
  return view
end

-- The view after the cost is taken. The old one stays as it is.
function holds.spent(check, view, allowed)
  return holds.charge(check, copy_of(check, view), allowed)
end

-- The holders of a count, the one of the check included. Every field of the hash but one is a holder; closed holds are only
-- in counts without leases.
local function holders_of(check, view)
  local holders = redis.call('HLEN', view.key) - 1
  for id in pairs(view.changed) do
    if not view.known[id] then holders = holders - 1 end
  end
  local hold = view.known[check.id]
  if not (hold and is_out(hold)) then holders = holders + 1 end
  return max(1, holders)
end

-- Takes a part of the room: a lease is a fair one, the room divided by twice the holders; without a hold, all that is
-- wanted is spent. Shows the numbers, then the units.
function holds.take_part(check, view, now, put)
  local parts = check.id == '' and 1 or 2 * holders_of(check, view)
  local units = max(0, floor(room(check, view, 0, min(check.burst, check.cost * parts), 0) / parts))
  check.asked = check.cost
  if not check.is_booked then check.cost = units end
  local err
  if check.cost > 0 then view = holds.charge(check, view, true) end
  if check.cost > 0 or view.is_set_back then err = holds.keep(check, view, now) end
  if err then return err end
  if check.is_unit then put(-1) end
  put(units > 0 and 1 or 0)
  check.units = units
  holds.show(check, view, now, put)
end

-- Books what became of a hold: status (0 unknown, 1 settled, 2 late, 3 repeated), charged, kept, ends at.
local function settled(check, view, id, spent, keep, life, debt)
  local hold, now = view.known[id], view.own
  if not hold then return 0, 0, 0, 0 end
  if hold[1] == SETTLED then return 3, hold[2], 0, 0 end
  local was_out, units = is_out(hold), hold[2]
  -- To extend what has ended moves nothing: it stays to be settled.
  if not was_out and spent == 0 and keep > 0 then return 2, 0, 0, 0 end
  local firm = min(spent, units)
  local kept = min(keep, units - firm)
  view.out = view.out - (units - kept)
  if hold[1] == SPENT then view.leased = view.leased - (units - kept) end
  local charged = firm
  if spent > firm then charged = room(check, view, firm, spent, debt) end
  spend(check, view, charged)
  local ends = 0
  if kept > 0 then
    ends = life and now + life or hold[3]
    change(view, id, { hold[1], kept, ends, hold[4] })
    note_end(view, ends, hold[4])
  elseif hold[4] > 0 then
    local forgotten = now + min(hold[4], SETTLED_KEPT)
    change(view, id, { SETTLED, charged, forgotten, hold[4] })
    if view.next_purge == 0 then view.next_purge = forgotten end
    view.kept_until = max(view.kept_until, forgotten)
  else
    change(view, id, nil)
  end
  if view.out == 0 then view.next_end, view.last_end = 0, 0 end
  return was_out and 1 or 2, charged, kept, ends
end

-- Writes the numbers and every hold that changed. Returns the error, if any.
local function keep_all(view, numbers)
  local key = view.key
  local set, gone = { 'HSET', key, '', numbers }, { 'HDEL', key }
  for id in pairs(view.changed) do
    local hold = view.known[id]
    if hold then
      set[#set + 1] = id
      set[#set + 1] = pack('<dddd', hold[1], hold[2], hold[3], hold[4])
    else
      gone[#gone + 1] = id
    end
    if #set > MAX_FIELDS then
      local err = send(_G.unpack(set))
      if err then return err end
      set = { 'HSET', key, '', numbers }
    end
    if #gone > MAX_FIELDS then
      local err = send(_G.unpack(gone))
      if err then return err end
      gone = { 'HDEL', key }
    end
  end
  local err = send(_G.unpack(set))
  if not err and #gone > 2 then err = send(_G.unpack(gone)) end
  return err
end

-- When what is spent and what is leased are as none.
local function full_at(check, view, now)
  local algorithm = check.algorithm
  if view.log then
    if view.leased > 0 then return view.last_end + check.window end
    return algorithm.full_at(view.log, check, now)
  end
  local at, used, before = view.at, view.used, view.before
  if view.leased > 0 then
    local last = last_of(check, view.last_end)
    at, used, before = algorithm.advance(check, at, used, before, last)
    at, used, before = algorithm.spend(raised_of(check), at, used, before, view.leased, last)
  end
  return algorithm.kept_until(check, at, used, before, now)
end

-- Writes a view, to expire when it answers as none. Returns the error, if any.
function holds.keep(check, view, now)
  local algorithm, key = check.algorithm, view.key
  local ttl = max(view.last_end, view.kept_until, full_at(check, view, now)) - now
  if ttl <= 0 or view.is_damaged then
    local reply = redis.pcall('DEL', key)
    if type(reply) == 'table' then return reply.err end
    if ttl <= 0 then return nil end
  end
  local numbers = pack('<dddddddd', view.at, view.used, view.out, view.leased, view.next_end, view.last_end,
    view.next_purge, view.kept_until)
  if algorithm.words == 3 then numbers = numbers .. pack('<d', view.before) end
  if view.log then numbers = numbers .. algorithm.bytes(view.log, check) end
  local changed = view.changed
  local id = next(changed)
  local hold = id and view.known[id]
  local err
  if not id then
    err = send('HSET', key, '', numbers)
  elseif hold and next(changed, id) == nil then
    -- Most requests change one hold.
    err = send('HSET', key, '', numbers, id, pack('<dddd', hold[1], hold[2], hold[3], hold[4]))
  else
    err = keep_all(view, numbers)
  end
  return err or send('PEXPIRE', key, ceil_div(now + ttl, KEPT_STEP) * KEPT_STEP - now + SPARE)
end

-- Puts the numbers of a view: now - at, used, before if the algorithm has it, out; and if anything is out, leased and
-- from now to the next and to the last end; of a log when it is empty, and when the cost and one more unit fit beside what
-- is out, 0 if they never do; for a part of the cost its units.
function holds.show(check, view, now, put, is_settlement)
  put(now - view.at)
  put(view.used)
  if check.algorithm.words == 3 then put(view.before) end
  put(view.out)
  if view.out > 0 then
    put(view.leased)
    put(view.next_end - now)
    put(view.last_end - now)
  end
  if view.log and not is_settlement then
    local algorithm, log, held = check.algorithm, view.log, view.out
    put(max(view.last_end, full_at(check, view, now)))
    put(algorithm.free_at(log, check, (check.asked or check.cost) + held))
    put(algorithm.free_at(log, check, max(0, check.quota - log.used - held) + 1 + held))
  end
  if check.is_part then put(check.units or 0) end
end

-- Settles a hold and shows it: status, charged, and the numbers. When units stay out, 4 is added to the status, and they
-- and the time to their end stand before the numbers. Returns the error, if any.
function holds.settle(check, key, now, put)
  local view, err = holds.view_of(check, key, now)
  if err then return err end
  local status, charged, kept, ends = settled(check, view, check.id, check.spent, check.kept, check.life, check.debt)
  if status == 1 or status == 2 or view.is_set_back then err = holds.keep(check, view, now) end
  if err then return err end
  put(kept > 0 and status + 4 or status)
  put(charged)
  if kept > 0 then
    put(kept)
    put(ends - now)
  end
  holds.show(check, view, now, put, true)
end

-- Hands back what a take charged: its hold, or units that were spent at once. Returns the error, if any.
function holds.refund(check, key, now, taken_at)
  local view, err = holds.view_of(check, key, now)
  if err then return err end
  if check.id ~= '' then
    settled(check, view, check.id, 0, 0, nil, 0)
  elseif view.log then
    check.algorithm.hand_back(view.log, check, check.cost, view.own, taken_at)
    view.at, view.used = view.log.at, view.log.used
  else
    view.at, view.used, view.before =
      check.algorithm.refund(check, view.at, view.used, view.before, check.cost, view.own, taken_at)
  end
  return holds.keep(check, view, now)
end
