-- Decides requests of one check each, all with holds on buckets: takes of new holds that come free at their end, and
-- settlements that keep nothing. A take does not look for its id, which is new; one that is there was taken by this same
-- request, sent twice. The answers equal those of holds.lua. Like take-each.lua without functions, and before
-- anything else in the script is made: with one request in a call, that costs more than the decision.
-- From the first request on that needs more than this (an end is due, leases are out, the clock was set back, a value
-- is damaged or beyond what is checked here) the rest of the script decides, which reads its arguments from a list made here.
--
-- KEYS  one per request
-- ARGV  1 h, and now in ms; h alone: the server's own time (tests set it)
--       2 the latest server time in ms at which this call may still act, 0 for any
--       3 one character for each request: that of code 48 + the number of its shape; '' when there is one shape
--       4 the ids of the holds, 16 characters each
--       5 an array in JSON, since one text costs less than many arguments: for each request its units, or to settle those
--       that were spent; then for each shape: the operation (1 take, 5 settle), the row of the algorithm, quota, window,
--       burst, the smallest quota of the limits that share the count; for a take the life of the hold and how long it is
--       found after its end, to settle the debt and 0
-- Output: flat integers and strings. First the server's time; negative, and alone, when the call came too late
--       and did nothing. Then for each request that is done, used, where at is now, if nothing else is out: alone, since
--       the rest follows from what was asked; otherwise -10 - out, and used. Else for a take -1 (refused), to settle
--       -1 - status and charged; now - at, used, out. In the last two forms, if anything is out, the time to the next and
--       to the last end. For a request that failed: one string instead, the server's error.
--       In front of the first request that the rest of the script decides: -9.

local ARGV, now, out, size, first, request = ARGV, nil, nil, nil, 1, 1
-- Milliseconds for which a key outlives its state: the clock by which keys expire moves on between the start of a
-- script and its reading of the time. A test that sets the time needs more.
local SPARE = (ARGV[1] == '' or ARGV[1] == 'h') and 1000 or 3600000
-- A hash of few and short fields is searched from its start. From so many on, one long value makes it a table for good;
-- that is looked at for the ids that begin with one of 64 characters.
local MANY = 64
-- Counts with holds are kept to the next multiple of so many milliseconds, so that most writes need not set an expiry.
local KEPT_STEP = 65536

if string.byte(ARGV[1]) == 104 then
  local floor, pack, unpack, pcall, sub, byte = math.floor, struct.pack, struct.unpack, redis.pcall, string.sub, string.byte
  local FREE, ENDED, SETTLED, SETTLED_KEPT, PURGE_INTERVAL = 0, 2, 3, 10000, 10000
  local WIDTH = 8
  now = tonumber(sub(ARGV[1], 2))
  if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000 + floor(time[2] / 1000)
  end
  local deadline = tonumber(ARGV[2])
  if deadline > 0 and now > deadline then return { -now } end
  local KEYS, numbers, ids, list = KEYS, ARGV[3], ARGV[4], cjson.decode(ARGV[5])
  local shapes, total = {}, #KEYS
  for p = total + 1, #list, WIDTH do
    local quota, window, slowest = list[p + 2], list[p + 3], list[p + 5]
    local full, most = list[p + 4] * window, floor(4503599627370496 / window) * window
    if most < full then most = full end
    if slowest == 0 then slowest = 1 end
    shapes[#shapes + 1] = { list[p] == 5, quota, window, full, most, slowest, list[p + 6], list[p + 7] }
  end
  out, size = { now, 0 }, 1
  local shape, rest = shapes[1], false
  local settles, quota, window, full, most, slowest, life, late_after =
    shape[1], shape[2], shape[3], shape[4], shape[5], shape[6], shape[7], shape[8]

  for i = 1, total do
    local own_shape = numbers == '' and shape or shapes[byte(numbers, i) - 48]
    if own_shape ~= shape then
      shape = own_shape
      settles, quota, window, full, most, slowest, life, late_after =
        shape[1], shape[2], shape[3], shape[4], shape[5], shape[6], shape[7], shape[8]
    end
    local key, id, units = KEYS[i], sub(ids, 16 * i - 15, 16 * i), list[i]
    local counts, hold
    if settles then
      local raw = pcall('HMGET', key, '', id)
      counts, hold = raw[1], raw[2]
      if raw.err or (hold and not (counts and #hold == 32)) then rest = true break end
    else
      counts = pcall('HGET', key, '')
      if type(counts) == 'table' then rest = true break end
    end
    local at, used, held, leased, next_end, last_end, purge, kept = now, 0, 0, 0, 0, 0, 0, 0
    local old, is_purged = 0, false
    local status, hold_units, hold_end, late = nil, 0, 0, 0
    if hold then
      status, hold_units, hold_end, late = unpack('<dddd', hold)
      if (status ~= FREE and status ~= SETTLED and status ~= ENDED) or (hold_units + hold_end + late) % 1 ~= 0
        or not (hold_units >= 0 and hold_end >= 0 and late >= 0) then
        rest = true
        break
      end
    end
    if counts then
      if #counts ~= 64 then rest = true break end
      at, used, held, leased, next_end, last_end, purge, kept = unpack('<dddddddd', counts)
      local sum = at + used + held + next_end + last_end + purge + kept
      if not (sum % 1 == 0 and sum <= 9007199254740991 and leased == 0 and at <= now and at >= 0 and used >= 0
        and held >= 0 and next_end >= 0 and last_end >= 0 and purge >= 0 and kept >= 0)
        or (next_end > 0 and now >= next_end) then
        rest = true
        break
      end
      old = last_end > kept and last_end or kept
      if used > 0 and used > (old - at) * slowest then
        local wait = floor(used / slowest)
        if used - wait * slowest > 0 then wait = wait + 1 end
        if at + wait > old then old = at + wait end
      end
      if purge > 0 and now >= purge then
        -- Forgets closed holds whose time is over.
        local all, gone, earliest, is_closed = pcall('HGETALL', key), { 'HDEL', key }, 0, false
        for j = 1, #all, 2 do
          local other = all[j]
          if other ~= '' then
            if #all[j + 1] ~= 32 or #gone > 1000 then rest = true break end
            local its_status, _, its_end = unpack('<dddd', all[j + 1])
            if its_end % 1 ~= 0 or (its_status ~= FREE and its_status ~= ENDED and its_status ~= SETTLED) then rest = true break end
            if its_status == FREE then
              if earliest == 0 or its_end < earliest then earliest = its_end end
            elseif its_end > now then
              is_closed = true
            else
              gone[#gone + 1] = other
              if other == id then hold = false end
            end
          end
        end
        if rest then break end
        if #gone > 2 then pcall(_G.unpack(gone)) end
        next_end, purge, is_purged = earliest, is_closed and now + PURGE_INTERVAL or 0, true
        if held == 0 then next_end, last_end = 0, 0 end
      end
    end

    local level = (used > most and most or used) - (now - at) * quota
    if level < 0 then level = 0 end
    local packed, answer, charged = nil, nil, 0
    if not settles then
      if level + (units + held) * window <= full then
        local ends = now + life
        packed = pack('<dddd', FREE, units, ends, late_after)
        held = held + units
        if next_end == 0 or ends < next_end then next_end = ends end
        if ends > last_end then last_end = ends end
        if late_after > 0 and ends + late_after > kept then kept = ends + late_after end
      else
        answer = -1
      end
    elseif not hold then
      answer = -1
    elseif status == SETTLED then
      answer, charged = -4, hold_units
    else
      -- What was out and spent is charged whatever the limit is by now.
      charged = units < hold_units and units or hold_units
      held = held - hold_units
      if units > charged then
        local room = floor((full - level) / window)
        if room * window > full - level then room = room - 1 end
        room = room - held + life
        if room > charged then charged = room < units and room or units end
      end
      if status ~= FREE then answer = -3 elseif charged ~= units then answer = -2 end
      if late > 0 then
        local forgotten = now + (late < SETTLED_KEPT and late or SETTLED_KEPT)
        packed = pack('<dddd', SETTLED, charged, forgotten, late)
        if purge == 0 then purge = forgotten end
        if forgotten > kept then kept = forgotten end
      else
        packed = ''
      end
      if held == 0 then next_end, last_end = 0, 0 end
    end

    local reply
    if packed then
      used = used - (now - at) * quota
      if used < 0 then used = 0 end
      at = now
      if charged > 0 then
        local more = used + charged * window
        if more > most then more = most end
        if more > used then used = more end
      end
    end
    if packed or is_purged then
      local expires = last_end > kept and last_end or kept
      if used > 0 and used > (expires - at) * slowest then
        local wait = floor(used / slowest)
        if used - wait * slowest > 0 then wait = wait + 1 end
        if at + wait > expires then expires = at + wait end
      end
      if expires <= now then
        reply = pcall('DEL', key)
      else
        counts = pack('<dddddddd', at, used, held, 0, next_end, last_end, purge, kept)
        if packed and packed ~= '' then
          if settles and byte(id) == 65 and pcall('HLEN', key) >= MANY then pcall('HSET', key, id, string.rep(' ', 65)) end
          reply = pcall('HSET', key, '', counts, id, packed)
          if reply == 0 and not settles then
            held = held - units
            reply = pcall('HSET', key, '', pack('<dddddddd', at, used, held, 0, next_end, last_end, purge, kept))
          end
        else
          reply = pcall('HSET', key, '', counts)
          if packed and type(reply) ~= 'table' then reply = pcall('HDEL', key, id) end
        end
        local last = expires - expires % KEPT_STEP
        if expires > last then last = last + KEPT_STEP end
        -- The last writer has set the same expiry unless the state must be kept into another step.
        if last >= old + KEPT_STEP and type(reply) ~= 'table' then
          reply = pcall('PEXPIRE', key, last - now + SPARE)
        end
      end
    end

    if type(reply) == 'table' and reply.err then
      size = size + 1
      out[size] = reply.err
    else
      local is_alone = held == 0
      if answer then
        size = size + 1
        out[size] = answer
        if settles then
          size = size + 1
          out[size] = charged
        end
        out[size + 1], out[size + 2], out[size + 3] = now - at, used, held
        size = size + 3
      elseif is_alone or (held == units and not settles) then
        is_alone = true
        size = size + 1
        out[size] = used
      else
        out[size + 1], out[size + 2] = -10 - held, used
        size = size + 2
      end
      if not is_alone then
        out[size + 1], out[size + 2] = next_end - now, last_end - now
        size = size + 2
      end
    end
    request = i + 1
  end
  if not rest then return out end

  -- The same arguments in the form that the rest of the script reads: texts, which the client wrote.
  size = size + 1
  out[size] = -9
  local texts = {}
  for text in string.gmatch(ARGV[5], '%d+') do texts[#texts + 1] = text end
  local args = { '', ARGV[2], #shapes, '', numbers == '' and string.rep('1', total - request + 1) or sub(numbers, request) }
  for p = total + 1, #texts, WIDTH do
    local is_take = texts[p] == '1'
    local checks = { texts[p], '1', texts[p + 1], texts[p + 2], texts[p + 3], texts[p + 4], texts[p + 5], '0', '8', '' }
    for i = 1, 10 do args[#args + 1] = checks[i] end
    args[#args + 1] = is_take and texts[p + 6] or ''
    args[#args + 1] = '0'
    args[#args + 1] = is_take and texts[p + 7] or texts[p + 6]
    args[#args + 1] = ''
  end
  for i = request, total do
    args[#args + 1] = sub(ids, 16 * i - 15, 16 * i)
    args[#args + 1] = texts[i]
  end
  ARGV, first, request = args, request, 1
end
