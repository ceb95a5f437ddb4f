// Runs in the runtime: calls a method of a room's object, as the Worker itself would: the path is the
// method and the room's id, the body what the method is given.

export default {
  async fetch(request, env) {
    const [, method, room] = new URL(request.url).pathname.split('/');
    try {
      return new Response(await env.ROOM.getByName(room)[method](await request.text()));
    } catch (error) {
      return new Response(error.message, { status: 503 });
    }
  },
};
