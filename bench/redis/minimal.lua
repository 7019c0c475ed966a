-- The least that a token bucket can be: what it costs at all to decide in Redis.
-- KEYS: one per decision. ARGV: burst, milliseconds for one token. Output: 1 or 0 for each key.
local burst, each = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answers = {}
for i = 1, #KEYS do
  local full = math.max(now, tonumber(redis.call('GET', KEYS[i]) or now)) + each
  local fits = full - now <= burst * each
  if fits then redis.call('SET', KEYS[i], string.format('%.0f', full), 'PX', full - now) end
  answers[i] = fits and 1 or 0
end
return answers
