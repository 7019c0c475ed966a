-- Decides what most requests with holds are: takes of holds that come free at their end, with plain takes from buckets
-- beside them, and settlements. The answers equal those of take-all.lua and holds.lua, whose functions and tables, made
-- anew for each call, cost more than the decisions. A request that needs more than this (an end is due, leases are out,
-- the clock was set back, a value is damaged) is left to them, and so are those after it.
--
-- `kinds` says by the row of an algorithm how it counts here: 1 bucket, 2 fixed window, 3 calendar window.
-- A settlement of several holds names no count twice, and nor does a take.

if ARGV[4] == '1' then
  local pcall = redis.pcall
  local FREE, ENDED, SETTLED, SETTLED_KEPT = 0, 2, 3, 10000
  local WIDTH = 12
  local shapes = {}
  for s = 1, tonumber(ARGV[3]) do
    local checks = tonumber(ARGV[arg + 1])
    local shape = { checks = checks, settles = ARGV[arg] == '5' }
    arg = arg + 2
    for p = 0, WIDTH * (checks - 1), WIDTH do
      local kind = kinds[tonumber(ARGV[arg])]
      local window, burst = tonumber(ARGV[arg + 2]), tonumber(ARGV[arg + 3])
      local scale = kind == 1 and window or 1
      local is_held = tonumber(ARGV[arg + 6]) % 16 >= 8
      shape[p + 1] = is_held and kind or 0
      shape[p + 2] = tonumber(ARGV[arg + 1])
      shape[p + 3] = window
      shape[p + 4] = scale
      -- The level that is full, and the one that no debt exceeds.
      shape[p + 5] = burst * scale
      shape[p + 6] = max(burst, floor(4503599627370496 / window)) * scale
      shape[p + 7] = max(1, tonumber(ARGV[arg + 4]))
      shape[p + 8] = tonumber(ARGV[arg + 5])
      arg = arg + 8
      if is_held then
        shape[p + 9] = tonumber(ARGV[arg]) or 0
        -- To settle: what stays out, and the debt. To take: how long a hold is found after its end.
        shape[p + 10], shape[p + 11] = tonumber(ARGV[arg + 1]), tonumber(ARGV[arg + 2])
        shape[p + 12] = ARGV[arg] ~= ''
        arg = arg + 4
        if kind == 3 then arg = arg + 4 end
      end
    end
    shapes[s] = shape
  end

  -- Of the checks of the request at hand: what was read, and what follows from it.
  local ats, useds, befores, levels, fits, units_of, ids = {}, {}, {}, {}, {}, {}, {}
  local outs, next_ends, last_ends, purges, kepts, olds, holds = {}, {}, {}, {}, {}, {}, {}
  local total = #numbers
  while request <= total do
    local shape = shapes[string.byte(numbers, request) - 48]
    local checks, settles = shape.checks, shape.settles
    local is_simple, all, err, a = true, true, nil, arg

    for i = 1, checks do
      local p = WIDTH * (i - 1)
      local kind, window, scale, full = shape[p + 1], shape[p + 3], shape[p + 4], shape[p + 5]
      local at, used, before, taken = now, 0, 0, 0
      if kind == 0 then
        local raw = pcall('GET', KEYS[first + i - 1])
        if raw then
          if type(raw) == 'table' or #raw ~= 16 then is_simple = false break end
          at, used = unpack('<dd', raw)
          if not (at >= 0 and at <= now and used >= 0 and used <= 4503599627370496 and at % 1 + used % 1 == 0) then
            is_simple = false
            break
          end
        end
        units_of[i], outs[i] = shape[p + 8], 0
        taken = shape[p + 8] * scale
      else
        local id, units = ARGV[a], tonumber(ARGV[a + 1])
        a = a + 2
        local raw = pcall('HMGET', KEYS[first + i - 1], '', id)
        local counts, hold = raw[1], raw[2]
        local is_known = hold and true or false
        if raw.err or id == '' or (is_known and (not counts or not settles)) then is_simple = false break end
        local held, next_end, last_end, purge, kept, leased = 0, 0, 0, 0, 0, 0
        if counts then
          if #counts ~= (kind == 3 and 72 or 64) then is_simple = false break end
          if kind == 3 then
            at, used, held, leased, next_end, last_end, purge, kept, before = unpack('<ddddddddd', counts)
          else
            at, used, held, leased, next_end, last_end, purge, kept = unpack('<dddddddd', counts)
          end
          local is_ours = at % 1 + used % 1 + held % 1 + leased % 1 + next_end % 1 + last_end % 1 + purge % 1 + kept % 1 == 0
            and min(at, used, held, leased, next_end, last_end, purge, kept, before) >= 0
            and max(used, held, last_end, kept) <= 9007199254740991 and before % 1 == 0
          local is_due = (next_end > 0 and now >= next_end) or (purge > 0 and now >= purge)
          if not is_ours or is_due or leased > 0 or at > now or (kind == 3 and now >= before) then
            is_simple = false
            break
          end
          olds[i] = max(last_end, kept)
          if used > 0 then
            local until_empty = kind == 1 and at + ceil_div(used, shape[p + 7]) or kind == 2 and at + window or before
            if until_empty > olds[i] then olds[i] = until_empty end
          end
          if kind == 2 and now - at >= window then at, used = floor_div(now, window) * window, 0 end
        elseif kind == 3 then
          is_simple = false
          break
        else
          olds[i] = 0
          if kind == 2 then at = floor_div(now, window) * window end
        end
        if is_known then
          if #hold ~= 32 then is_simple = false break end
          local status, out_of_it, ends, late = unpack('<dddd', hold)
          local is_ours = status % 1 + out_of_it % 1 + ends % 1 + late % 1 == 0 and min(status, out_of_it, ends, late) >= 0
          if not is_ours or status == 1 or status > SETTLED then is_simple = false break end
          holds[i] = { status, out_of_it, ends, late }
        else
          holds[i] = false
          if not settles and units == 0 then is_simple = false break end
        end
        ids[i], units_of[i], outs[i], next_ends[i], last_ends[i], purges[i], kepts[i] =
          id, units, held, next_end, last_end, purge, kept
        taken = (units + held) * scale
      end
      local level = used
      if kind <= 1 then
        local most = kind == 0 and full or shape[p + 6]
        level = min(used, most) - (now - at) * shape[p + 2]
        if level < 0 then level = 0 end
      end
      local fit = level + taken <= full
      all = all and fit
      ats[i], useds[i], befores[i], levels[i], fits[i] = at, used, before, level, fit
    end
    if not is_simple then break end

    local start = size
    for i = 1, checks do
      local p = WIDTH * (i - 1)
      local kind, quota, window, scale = shape[p + 1], shape[p + 2], shape[p + 3], shape[p + 4]
      local key, at, used, before = KEYS[first + i - 1], ats[i], useds[i], befores[i]
      local held, next_end, last_end, purge, kept = outs[i], next_ends[i], last_ends[i], purges[i], kepts[i]
      local is_changed, packed, left, charged, ends = false, nil, 0, 0, 0
      if settles then
        local hold, spent, status = holds[i], units_of[i], 0
        if hold and hold[1] == SETTLED then
          status, charged = 3, hold[2]
        elseif hold and hold[1] == ENDED and spent == 0 and shape[p + 10] > 0 then
          -- To extend what has ended moves nothing: it stays to be settled.
          status = 2
        elseif hold then
          local units, late = hold[2], hold[4]
          status, is_changed = hold[1] == FREE and 1 or 2, true
          charged = min(spent, units)
          left = min(shape[p + 10], units - charged)
          held = held - (units - left)
          if spent > charged then
            local room = floor_div(shape[p + 5] - levels[i], scale) - held + shape[p + 11]
            charged = min(spent, max(charged, room))
          end
          if left > 0 then
            ends = shape[p + 12] and now + shape[p + 9] or hold[3]
            packed = pack('<dddd', hold[1], left, ends, late)
            next_end = next_end == 0 and ends or min(next_end, ends)
            last_end = max(last_end, ends)
            if late > 0 then kept = max(kept, ends + late) end
          elseif late > 0 then
            local forgotten = now + min(late, SETTLED_KEPT)
            packed = pack('<dddd', SETTLED, charged, forgotten, late)
            if purge == 0 then purge = forgotten end
            kept = max(kept, forgotten)
          end
          if held == 0 then next_end, last_end = 0, 0 end
        end
        out[size + 1], out[size + 2] = left > 0 and status + 4 or status, charged
        size = size + 2
        if left > 0 then
          out[size + 1], out[size + 2] = left, ends - now
          size = size + 2
        end
      else
        size = size + 1
        out[size] = all and 1 or fits[i] and 2 or 0
        if all then
          is_changed = true
          if kind == 0 then
            charged = units_of[i]
          else
            local late = shape[p + 11]
            ends = now + shape[p + 9]
            packed = pack('<dddd', FREE, units_of[i], ends, late)
            held = held + units_of[i]
            next_end = next_end == 0 and ends or min(next_end, ends)
            last_end = max(last_end, ends)
            if late > 0 then kept = max(kept, ends + late) end
          end
        end
      end

      if is_changed then
        if kind <= 1 then
          used = used - (now - at) * quota
          if used < 0 then used = 0 end
          at = now
        end
        local until_empty = now
        if kind == 0 then
          used = used + charged * window
          until_empty = max(now, at + ceil_div(used, shape[p + 7]))
          local reply = pcall('SET', key, pack('<dd', at, used), 'PX', until_empty - now + SPARE)
          if type(reply) == 'table' and reply.err then err = reply.err end
        else
          used = max(used, min(used + charged * scale, shape[p + 6]))
          if used > 0 then
            until_empty = kind == 1 and max(now, at + ceil_div(used, shape[p + 7])) or kind == 2 and at + window or before
          end
          local expires, reply = max(last_end, kept, until_empty), nil
          if expires <= now then
            reply = pcall('DEL', key)
          else
            local counts = pack('<dddddddd', at, used, held, 0, next_end, last_end, purge, kept)
            if kind == 3 then counts = counts .. pack('<d', before) end
            if packed then
              reply = pcall('HSET', key, '', counts, ids[i], packed)
            else
              reply = pcall('HSET', key, '', counts)
              if type(reply) ~= 'table' then reply = pcall('HDEL', key, ids[i]) end
            end
            -- The last writer has set the same expiry unless the state must be kept into another step.
            local last = ceil_div(expires, KEPT_STEP)
            if type(reply) ~= 'table' and last > ceil_div(olds[i], KEPT_STEP) then
              reply = pcall('PEXPIRE', key, last * KEPT_STEP - now + SPARE)
            end
          end
          if type(reply) == 'table' and reply.err then err = reply.err end
        end
        if err then break end
      end

      out[size + 1], out[size + 2] = now - at, used
      size = size + 2
      if kind == 3 then
        size = size + 1
        out[size] = before
      end
      if kind > 0 then
        size = size + 1
        out[size] = held
        if held > 0 then
          out[size + 1], out[size + 2], out[size + 3] = 0, next_end - now, last_end - now
          size = size + 3
        end
      end
    end
    if err then
      for i = size, start + 2, -1 do out[i] = nil end
      size = start + 1
      out[size] = err
    end
    arg, first, request = a, first + checks, request + 1
  end
  if request > total then return out end
end
