// For the benchmark alone, and in no build: stands between the Worker and the objects of its rooms. It
// counts the calls, and passes on what the benchmark has to say to a room itself.
import { DurableObject } from "cloudflare:workers";

let calls = 0;

export class Room extends DurableObject {
  hear(body) {
    calls += 1;
    return this.env.ROOM.getByName(this.ctx.id.name).hear(body);
  }
}

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/calls") return new Response(String(calls));
    return new Response(await env.ROOM.getByName(pathname.slice(1)).hear(await request.text()));
  },
};
