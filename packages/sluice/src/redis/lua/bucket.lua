-- Token bucket, GCRA and leaky bucket: algorithms/bucket.ts.
-- used: the level in units of 1/window; at: the instant for which it holds.

local bucket = {}

function bucket.fresh(limit, now)
  return now, 0, 0
end

function bucket.largest(limit)
  return 4503599627370496
end

function bucket.advance(limit, at, used, before, now)
  if at - now > limit.window then at = now end
  return at, used, 0
end

function bucket.fits(limit, at, used, before, cost, now)
  local full = limit.burst * limit.window
  return max(0, min(used, full) - max(0, now - at) * limit.quota) + cost * limit.window <= full
end

local function drain(limit, at, used, now)
  return max(at, now), max(0, used - max(0, now - at) * limit.quota)
end

function bucket.charge(limit, at, used, before, cost, now)
  at, used = drain(limit, at, used, now)
  return at, used + cost * limit.window, 0
end

function bucket.spend(limit, at, used, before, cost, now)
  at, used = drain(limit, at, used, now)
  return at, max(used, min(used + cost * limit.window, limit.burst * limit.window)), 0
end

function bucket.refund(limit, at, used, before, cost, now, taken_at)
  local drained = max(0, max(at, now) - taken_at) * limit.quota
  local back = max(0, cost * limit.window - drained)
  if used <= limit.burst * limit.window then at, used = drain(limit, at, used, now) end
  return at, max(0, used - back), 0
end

function bucket.kept_until(limit, at, used, before, now)
  if used == 0 then return now end
  return max(now, at + ceil_div(used, max(1, limit.slowest)))
end
