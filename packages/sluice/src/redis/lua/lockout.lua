-- Lockout: algorithms/lockout.ts.
-- used: refusals, every `quota` of them one lock; at: where the window of those beyond began; before: the end of the
-- last lock.

local lockout = {}

local function length_of(limit, lock)
  local length = limit.lock_for
  local i = 1
  while i < lock and limit.lock_grow > 1 and length < limit.lock_up_to do
    length = length * limit.lock_grow
    i = i + 1
  end
  return min(length, limit.lock_up_to)
end

local function forgotten_at(limit, at, used, before)
  local since = used % limit.quota
  local lock = (used - since) / limit.quota
  local quiet = before + max(limit.window, length_of(limit, lock))
  if since == 0 then return quiet end
  if lock == 0 then return at + limit.window end
  return max(quiet, at + limit.window)
end

function lockout.fresh(limit, now)
  return now, 0, 0
end

function lockout.largest()
  return 9007199254740991
end

function lockout.advance(limit, at, used, before, now)
  if before - now > limit.lock_up_to then before = now + limit.lock_up_to end
  if at - now > limit.window then at = now end
  if used > 0 and now >= forgotten_at(limit, at, used, before) then return at, 0, 0 end
  if now - at >= limit.window then used = used - used % limit.quota end
  return at, used, before
end

function lockout.fits(limit, at, used, before, cost, now)
  return now >= before
end

function lockout.charge(limit, at, used, before)
  return at, used, before
end

function lockout.spend(limit, at, used, before, cost, now)
  if now < before then return at, used, before end
  if used % limit.quota == 0 then at = now end
  used = used + 1
  if used % limit.quota == 0 then before = now + length_of(limit, used / limit.quota) end
  return at, used, before
end

function lockout.refund(limit, at, used, before)
  return at, used, before
end

function lockout.kept_until(limit, at, used, before, now)
  if used == 0 then return now end
  return max(now, forgotten_at(limit, at, used, before))
end
