// What anteroom is measured against: the least that a Worker in front of a site can do.
export default {
  async fetch(request) {
    return fetch(request);
  },
};
