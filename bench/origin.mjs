// A site that answers at once, so that what is measured is the Worker in front of it.
export default {
  async fetch() {
    return new Response("the site\n", { headers: { "Content-Type": "text/plain" } });
  },
};
