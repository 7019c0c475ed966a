-- An action for HAProxy 2.6 and later: `http-request lua.sluice` asks Sluice about the request, ends it with the
-- refusal, or keeps the RateLimit fields in variables for the response. Without an answer the request goes on.
local ADDRESS = "http://127.0.0.1:8080/v1/auth/haproxy?policy=api"
local PATIENCE = 500

local function first(headers, name)
  local values = headers and headers[name]
  return values and values[0]
end

core.register_action("sluice", { "http-req" }, function(txn)
  local sent = txn.http:req_get_headers()
  local headers = {
    ["x-original-uri"] = { txn.sf:pathq() },
    ["x-original-method"] = { txn.sf:method() },
    ["x-forwarded-for"] = { txn.sf:src() },
  }
  -- Fields that name somebody, as in the attributes of the service's configuration.
  for _, name in ipairs({ "x-api-key" }) do
    local value = first(sent, name)
    if value then headers[name] = { value } end
  end

  local answer = core.httpclient():get({ url = ADDRESS, headers = headers, timeout = PATIENCE })
  if answer and answer.status == 204 then
    txn:set_var("txn.ratelimit", first(answer.headers, "ratelimit"))
    txn:set_var("txn.ratelimit_policy", first(answer.headers, "ratelimit-policy"))
    return
  end
  -- HAProxy makes a 503 of its own when nobody answers; only Sluice sends this field.
  if not first(answer and answer.headers, "sluice-status") then return end
  local reply = txn:reply({ status = answer.status, body = answer.body })
  for _, name in ipairs({ "content-type", "cache-control", "retry-after", "ratelimit", "ratelimit-policy" }) do
    local value = first(answer.headers, name)
    if value then reply:add_header(name, value) end
  end
  txn:done(reply)
end)
