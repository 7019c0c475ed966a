-- Sliding window counter: algorithms/sliding-window.ts.
-- at: the current window's start; used: its units; before: those of the window before it.

local sliding_window = {}

function sliding_window.fresh(limit, now)
  return floor_div(now, limit.window) * limit.window, 0, 0
end

function sliding_window.largest(limit)
  return 4503599627370496 / limit.window
end

function sliding_window.advance(limit, at, used, before, now)
  if now >= at and now - at < limit.window then return at, used, before end
  local start = floor_div(now, limit.window) * limit.window
  if start > at then
    if start - at == limit.window then return start, 0, used end
    return start, 0, 0
  end
  if at - start > limit.window then at = start end
  return at, used, before
end

function sliding_window.fits(limit, at, used, before, cost, now)
  local estimate = before * (limit.window - max(0, now - at)) + used * limit.window
  return estimate + cost * limit.window <= limit.quota * limit.window
end

function sliding_window.spend(limit, at, used, before, cost)
  return at, max(used, min(used + cost, limit.quota)), before
end

sliding_window.charge = sliding_window.spend

function sliding_window.refund(limit, at, used, before, cost, now, taken_at)
  if taken_at >= at then return at, max(0, used - cost), before end
  if taken_at >= at - limit.window then return at, used, max(0, before - cost) end
  return at, used, before
end

function sliding_window.kept_until(limit, at, used, before, now)
  if used > 0 then return at + 2 * limit.window end
  if before > 0 then return at + limit.window end
  return now
end
