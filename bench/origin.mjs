// A site that answers at once, so that what is measured is the Worker in front of it. /headers tells
// what arrived, for the checks before the measurement.
export default {
  async fetch(request) {
    if (request.url.endsWith("/headers")) return Response.json([...request.headers]);
    return new Response("the site\n", { headers: { "Content-Type": "text/plain" } });
  },
};
