// Runs in the runtime: says to a room's object, by the room's id in the path, what is sent to it.

export default {
  async fetch(request, env) {
    const room = new URL(request.url).pathname.slice(1);
    try {
      return new Response(await env.ROOM.getByName(room).hear(await request.text()));
    } catch (error) {
      return new Response(error.message, { status: 503 });
    }
  },
};
