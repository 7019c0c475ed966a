-- Fixed window: algorithms/fixed-window.ts.
-- at: the window's start; used: the units taken in it.

local fixed_window = {}

function fixed_window.fresh(limit, now)
  return floor_div(now, limit.window) * limit.window, 0, 0
end

function fixed_window.largest(limit)
  return 4503599627370496 / limit.window
end

function fixed_window.advance(limit, at, used, before, now)
  if now >= at and now - at < limit.window then return at, used, 0 end
  local start = floor_div(now, limit.window) * limit.window
  if start > at then return start, 0, 0 end
  if at - start > limit.window then at = start end
  return at, used, 0
end

function fixed_window.fits(limit, at, used, before, cost)
  return used + cost <= limit.quota
end

function fixed_window.spend(limit, at, used, before, cost)
  return at, max(used, min(used + cost, limit.quota)), 0
end

fixed_window.charge = fixed_window.spend

function fixed_window.refund(limit, at, used, before, cost, now, taken_at)
  if taken_at < at then return at, used, 0 end
  return at, max(0, used - cost), 0
end

function fixed_window.kept_until(limit, at, used, before, now)
  if used == 0 then return now end
  return at + limit.window
end
