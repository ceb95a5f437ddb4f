-- Writes wrk's figures as one line of JSON. Times are microseconds.
function done(summary, latency)
   local failed = summary.errors
   io.write(string.format(
      'figures {"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"errors":%d}\n',
      summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
      failed.connect + failed.read + failed.write + failed.status + failed.timeout))
end
