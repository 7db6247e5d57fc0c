-- wrk: POST trainings, each with a name of its own. PRORATA_TOKEN, PRORATA_PROJECT, PRORATA_CLUSTER in the environment.
local counter = 0
local thread_number = 0
function setup(thread)
  thread:set("id", thread_number)
  thread_number = thread_number + 1
end
function init()
  wrk.method = "POST"
  wrk.headers["Authorization"] = "Bearer " .. os.getenv("PRORATA_TOKEN")
  wrk.headers["Content-Type"] = "application/json"
  stamp = os.getenv("PRORATA_RUN") or "r"
end
function request()
  counter = counter + 1
  local body = string.format(
    '{"name":"%s-%d-%d","projectId":"%s","clusterId":"%s","spec":{"image":"runai.jfrog.io/demo/quickstart","compute":{"gpuDevicesRequest":1,"cpuCoreRequest":0.1,"cpuMemoryRequest":"100M"}}}',
    stamp, id, counter, os.getenv("PRORATA_PROJECT"), os.getenv("PRORATA_CLUSTER"))
  return wrk.format(nil, "/api/v1/workloads/trainings", nil, body)
end
function response(status)
  if status ~= 202 then bad = (bad or 0) + 1 end
end
function done(summary, latency)
  io.write(string.format("RESULT %.0f %.3f %.3f %d\n", summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, summary.errors.status + summary.errors.read + summary.errors.timeout))
end
