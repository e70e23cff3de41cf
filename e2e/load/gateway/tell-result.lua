-- What wrk.ts reads of a run: its figures, and the CPU time of wrk itself.

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
