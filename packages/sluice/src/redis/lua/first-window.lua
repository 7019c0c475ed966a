-- Fixed window that begins with the first request: algorithms/first-window.ts.
-- at: the window's start; used: the units taken in it.

local first_window = {}

function first_window.fresh(limit, now)
  return now, 0, 0
end

function first_window.largest(limit)
  return 4503599627370496 / limit.window
end

function first_window.advance(limit, at, used, before, now)
  if used == 0 or now - at >= limit.window then return now, 0, 0 end
  if at - now > limit.window then at = now end
  return at, used, 0
end

function first_window.fits(limit, at, used, before, cost)
  return used + cost <= limit.quota
end

function first_window.spend(limit, at, used, before, cost)
  return at, max(used, min(used + cost, limit.quota)), 0
end

first_window.charge = first_window.spend

function first_window.refund(limit, at, used, before, cost, now, taken_at)
  if taken_at < at then return at, used, 0 end
  return at, max(0, used - cost), 0
end

function first_window.kept_until(limit, at, used, before, now)
  if used == 0 then return now end
  return at + limit.window
end
