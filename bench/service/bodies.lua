-- A wrk script: sends the bodies of a file, one line each, in turn.
local requests = {}
local next = 0

function init(args)
  for line in io.lines(args[1]) do
    requests[#requests + 1] =
      wrk.format('POST', '/v1/check', { ['Content-Type'] = 'application/json' }, line)
  end
end

function request()
  next = next % #requests + 1
  return requests[next]
end
