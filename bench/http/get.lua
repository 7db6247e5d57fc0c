-- wrk: GET PRORATA_PATH with the token, and packed where PRORATA_ENCODING says so.
function init()
  if os.getenv("PRORATA_TOKEN") then wrk.headers["Authorization"] = "Bearer " .. os.getenv("PRORATA_TOKEN") end
  if os.getenv("PRORATA_ENCODING") then wrk.headers["Accept-Encoding"] = os.getenv("PRORATA_ENCODING") end
end
function request()
  return wrk.format("GET", os.getenv("PRORATA_PATH") or "/")
end
function done(summary, latency)
  io.write(string.format("RESULT %.0f %.3f %.3f %d\n", summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, summary.errors.status + summary.errors.read + summary.errors.timeout))
end
