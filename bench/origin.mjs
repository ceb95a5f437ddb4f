// A site that answers at once, so that what is measured is the Worker in front of it. /headers tells
// what arrived, for the checks before the measurement.
const TEXT = { "Content-Type": "text/plain" };
/** What the hosts that are cached say of it: the second is stale when it comes, and stored all the same. */
const SAID = {
  "fresh.test": { "Cache-Control": "max-age=86400" },
  "tiered.test": { "Cache-Control": "max-age=86400" },
  "stale.test": { "Cache-Control": "max-age=1", Age: "2", ETag: '"a"' },
  "unstored.test": { "Cache-Control": "no-store" },
};

export default {
  async fetch(request) {
    if (request.url.endsWith("/headers")) return Response.json([...request.headers]);
    return new Response("the site\n", { headers: { ...TEXT, ...SAID[new URL(request.url).hostname] } });
  },
};
