-- Fixed window of the calendar: algorithms/calendar-window.ts.
-- at: the period's start; before: its end; used: the units taken in it. The call carries the edges of the periods around
-- its own time; the server's time decides which of them holds.

local calendar_window = {}

-- The period of an instant. Beyond the edges, which takes clocks that differ by a whole period, the outermost one.
local function period_at(limit, now)
  local edges = limit.edges
  local i = 1
  while i < #edges - 1 and now >= edges[i + 1] do i = i + 1 end
  return edges[i], edges[i + 1]
end

function calendar_window.fresh(limit, now)
  local start, stop = period_at(limit, now)
  return start, 0, stop
end

function calendar_window.largest()
  return 9007199254740991
end

function calendar_window.advance(limit, at, used, before, now)
  if now >= at and now < before then return at, used, before end
  local start, stop = period_at(limit, now)
  if start > at then return start, 0, stop end
  if stop < at then return start, used, stop end
  return at, used, before
end

function calendar_window.fits(limit, at, used, before, cost)
  return used + cost <= limit.quota
end

function calendar_window.spend(limit, at, used, before, cost)
  return at, max(used, min(used + cost, limit.quota)), before
end

calendar_window.charge = calendar_window.spend

function calendar_window.refund(limit, at, used, before, cost, now, taken_at)
  if taken_at < at then return at, used, before end
  return at, max(0, used - cost), before
end

function calendar_window.kept_until(limit, at, used, before, now)
  if used == 0 then return now end
  return before
end
