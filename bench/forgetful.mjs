// Stands for the cache of a data centre in which nothing is found: it takes what it is given and forgets it.
export default {
  async fetch(request) {
    if (request.method !== "PUT") return new Response(null, { status: 504, headers: { "CF-Cache-Status": "MISS" } });
    await request.arrayBuffer();
    return new Response(null, { status: 204 });
  },
};
