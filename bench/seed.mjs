// Fills rooms before the measurement: says to each at once what as many visitors would have said one by
// one.
import { claims } from "./tokens.mjs";
import { Visitor } from "./client.mjs";

/** So many arrivals in one message: some hundred kilobytes. */
const AT_ONCE = 10_000;

/** What a room's passes and places are signed with besides the number. */
export async function identify(server, host) {
  const url = `http://${host}/`;
  // Whoever comes first is let in, and stays.
  const visitor = new Visitor(server.port);
  await visitor.get(url);
  const token = visitor.cookieHeader(url)?.split("=")[1];
  if (!token) throw new Error(`${host} lets nobody in`);
  const [room, incarnation] = claims(token).aud.split(".");
  return { room, incarnation: parseInt(incarnation, 16) };
}

/** Lets `count` visitors come who bring a ticket. Tells the last number that was given. */
export async function crowd(server, { room }, count) {
  let last;
  for (let done = 0; done < count; done += AT_ONCE) {
    const messages = Array.from({ length: Math.min(AT_ONCE, count - done) }, (_, n) => ({
      arrive: { ticket: (1e12 + done + n).toString(16).padStart(16, "0"), returning: true },
    }));
    const { replies } = await server.say(room, { v: 1, messages });
    last = Object.values(replies.at(-1))[0].number;
  }
  return last;
}
