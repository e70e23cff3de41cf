-- Creates or updates leads, with one API key after another.
-- Arguments: `create` or `update`; a file with `<key> <lead id>` a line; the first line; a tag that makes the
-- external ids of this run its own.

local targets = {}
local at, sent = 0, 0
local kind, tag

function init(args)
  kind, tag = args[1], args[4]
  for line in io.lines(args[2]) do
    local key, id = line:match("^(%S+) (%d+)$")
    targets[#targets + 1] = { headers = { ["X-Api-Key"] = key, ["Content-Type"] = "application/json" }, id = id }
  end
  at = tonumber(args[3])
end

local base = "/api/v1/integrations/leads"

function request()
  at = at % #targets + 1
  sent = sent + 1
  local target = targets[at]
  if kind == "create" then
    return wrk.format("POST", base, target.headers, string.format(
      '{"first_name":"Katherine","last_name":"Number %d","email":"k%d@example.com","phone":"+1 555 010 4477","city":"Hampton","external_id":"%s-%d"}',
      sent, sent, tag, sent))
  end
  return wrk.format("PATCH", base .. "/" .. target.id, target.headers,
    string.format('{"city":"City %d","phone":"+1 555 %d"}', sent, sent))
end

-- Gives wrk its `done`.
dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "../gateway/tell-result.lua")
