-- With the name of a file as its argument, sends each request with the next of its lines as the cookie.
-- Writes wrk's figures as one line of JSON. Times are microseconds.
local requests = {}
local sent = 0

function init(args)
   if not args[1] then
      return
   end
   for cookie in io.lines(args[1]) do
      local headers = {}
      for name, value in pairs(wrk.headers) do
         headers[name] = value
      end
      headers["Cookie"] = cookie
      requests[#requests + 1] = wrk.format(nil, nil, headers)
   end
   request = function()
      sent = sent + 1
      return requests[(sent - 1) % #requests + 1]
   end
end

function done(summary, latency)
   local failed = summary.errors
   io.write(string.format(
      'figures {"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"errors":%d}\n',
      summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
      failed.connect + failed.read + failed.write + failed.status + failed.timeout))
end
