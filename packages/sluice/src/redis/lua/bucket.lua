-- Token bucket, GCRA and leaky bucket: algorithms/bucket.ts.
-- used: the level in units of 1/window; at: the instant for which it holds.

local bucket = { words = 2 }

function bucket.fresh(limit, now)
  return now, 0, 0
end

function bucket.advance(limit, at, used, before, now)
  used = min(used, limit.burst * limit.window) - max(0, now - at) * limit.quota
  if now > at or at - now > limit.window then at = now end
  return at, max(0, used), 0
end

function bucket.fits(limit, at, used, before, cost)
  return used + cost * limit.window <= limit.burst * limit.window
end

function bucket.spend(limit, at, used, before, cost)
  return at, min(used + cost * limit.window, limit.burst * limit.window), 0
end

function bucket.give(limit, at, used, before, cost, taken_at)
  local drained = max(0, at - taken_at) * limit.quota
  local back = max(0, cost * limit.window - drained)
  return at, max(0, used - back), 0
end

function bucket.full_at(limit, at, used, before, now)
  if used == 0 then return now end
  return at + ceil_div(used, limit.quota)
end
