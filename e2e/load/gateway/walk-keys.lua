-- Walks the API keys of a file, one per request, over all connections. Everything is put together before
-- the start, so that a request costs an addition and a table read.
-- Arguments: the file with the keys, the number of the key to begin with.

local requests = {}
local at = 0

function init(args)
  for key in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format("GET", nil, { ["X-Api-Key"] = key })
  end
  at = tonumber(args[2])
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  local stat = io.open("/proc/self/stat"):read("*a")
  io.write(string.format(
    '\nresult {"requests":%d,"elapsedUs":%d,"statusErrors":%d,"socketErrors":%d,"p50Us":%d,"p99Us":%d,"maxUs":%d}\n',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99), latency.max))
  io.write("stat " .. stat)
end
