-- An action for HAProxy 2.6 and later: `http-request lua.sluice` asks Sluice about the request. It ends the request
-- with Sluice's refusal, or keeps the RateLimit fields in variables for the response. Only when there was no answer
-- does the request go on undecided.
local ADDRESS = "http://127.0.0.1:8080/v1/auth/haproxy?policy=api"
local TIMEOUT_MS = 100

-- Fields that name the caller, as in `proxy.attributes` of the service's configuration.
local COUNTED = { ["x-api-key"] = true }

local function first(headers, name)
  local values = headers and headers[name]
  return values and values[0]
end

core.register_action("sluice", { "http-req" }, function(txn)
  local headers = {
    ["x-original-uri"] = { txn.sf:pathq() },
    ["x-original-method"] = { txn.sf:method() },
    ["x-forwarded-for"] = { txn.sf:src() },
  }
  -- Every line and every spelling: Sluice refuses a request that names its caller twice.
  for name, values in pairs(txn.http:req_get_headers()) do
    local plain = name:lower():gsub("_", "-")
    if COUNTED[plain] then
      local sent = headers[plain] or {}
      for _, value in pairs(values) do sent[#sent + 1] = value end
      headers[plain] = sent
    end
  end

  local answer = core.httpclient():get({ url = ADDRESS, headers = headers, timeout = TIMEOUT_MS })
  -- HAProxy makes a 503 of its own when there is no answer; every answer of Sluice has this field.
  if not first(answer and answer.headers, "sluice-status") then return end
  if answer.status == 204 then
    txn:set_var("txn.ratelimit", first(answer.headers, "ratelimit"))
    txn:set_var("txn.ratelimit_policy", first(answer.headers, "ratelimit-policy"))
    return
  end
  local reply = txn:reply({ status = answer.status, body = answer.body })
  for _, name in ipairs({ "content-type", "cache-control", "retry-after", "ratelimit", "ratelimit-policy" }) do
    local value = first(answer.headers, name)
    if value then reply:add_header(name, value) end
  end
  txn:done(reply)
end)
