// For the benchmark alone, and in no build: stands between the Worker and the objects of its rooms. It
// counts the calls, and passes on what the benchmark has to say to a room itself.
import { DurableObject } from "cloudflare:workers";

let calls = 0;

export class Room extends DurableObject {
  fetch(request) {
    calls += 1;
    return this.env.ROOM.getByName(this.ctx.id.name).fetch(request);
  }
}

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/calls") return new Response(String(calls));
    return env.ROOM.getByName(pathname.slice(1)).fetch("https://room/", { method: "POST", body: await request.text() });
  },
};
