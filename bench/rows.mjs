// What is measured: each row a request that wrk repeats, and the proof that it is what its name says.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { request, Visitor } from "./client.mjs";
import { crowd, identify } from "./seed.mjs";
import { pass, place, ticket } from "./tokens.mjs";

const COOKIE = "__cfwaitingroom";
const POLL = [["Anteroom-Poll", "1"]];

const fromOrigin = (answer) => {
  assert.equal(answer.status, 200);
  assert.equal(answer.text, "the site\n", "not the origin's answer");
};
const passes = (answer) => {
  fromOrigin(answer);
  assert.equal(answer.header("set-cookie"), undefined, "a new cookie");
};
const setsCookie = (answer) => assert.match(answer.header("set-cookie") ?? "", new RegExp(`^${COOKIE}=`));
const getsPass = (answer) => {
  fromOrigin(answer);
  setsCookie(answer);
};
const waits = (answer) => {
  assert.ok([200, 202].includes(answer.status), `status ${answer.status}`);
  const room = answer.json.cfWaitingRoom;
  assert.equal(room.inWaitingRoom, true);
  assert.equal(room.positionKnown, true, answer.text);
  return room;
};

/** A visitor who is let in. */
async function admitted({ port }, host) {
  const visitor = new Visitor(port);
  fromOrigin(await visitor.get(`http://${host}/`));
  return visitor.cookieHeader(`http://${host}/`);
}

/** A visitor with a number: the first answer gives a ticket, which the next request exchanges. */
async function waiting({ port }, host) {
  const url = `http://${host}/`;
  // Whoever comes first takes the one place, and stays.
  await new Visitor(port).get(url);
  const visitor = new Visitor(port);
  await visitor.get(url);
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const answer = await visitor.poll(url);
    if (answer.json.cfWaitingRoom?.positionKnown === true) return visitor.cookieHeader(url);
    await sleep(250);
  }
  throw new Error(`${host} gives no number`);
}

/** Behind how many the visitor of a row waits. */
const behind = (count) => ({
  seed: async (server, host) => {
    const room = await identify(server, host);
    assert.equal(await crowd(server, room, count), count + 1);
  },
  cookie: waiting,
  headers: POLL,
  check(answer) {
    const { position } = waits(answer);
    // The benchmark's own visitors wait there, too.
    assert.ok(position >= count && position < count + 1000, `position ${position}`);
  },
});

/** The origin's answer, and what `Cache-Status` says of it. */
const cache = (said) => (answer) => {
  fromOrigin(answer);
  assert.match(answer.header("cache-status") ?? "", said);
};

/** Asks once and gives the cache time to store the answer: if it were too short, the check would say so. */
async function filled(known, { port }, host) {
  await request({ port, host });
  await sleep(250);
}

/** Makes a row of which each request is another visitor's, from numbers that are counted up. */
const each = (make) => {
  let next = 1;
  return (known, count) => Array.from({ length: count }, () => `${COOKIE}=${make(known, next++)}`);
};

/** Those who were called, the first first. */
const claimants = each(({ room, incarnation }, n) => place(room, incarnation, RATE + 100 + n));

/** A visitor who waits in `called` has been called when the rate of a minute is there again. */
const CALLED_AFTER_MS = 65_000;
const RATE = 100_000;
const SESSION_SECONDS = 86_400;

/**
 * The rows. `worker` is which one serves, anteroom if none is named. `seed` prepares the room once and what
 * it resolves to is handed on; `cookie` is whose cookie is sent, `cookies` those of as many visitors as
 * there may be requests. `check` looks at one answer, `forwarded` at what the origin got. `like` names
 * the row with the same request that a bare pass-through gets, and `goal` is the least ratio to it.
 */
export const ROWS = [
  { name: "pass_through", worker: "plain", host: "elsewhere.test", check: passes },
  {
    name: "pass_through_cookie",
    worker: "plain",
    host: "open.test",
    // Of the same length as an admitted visitor's.
    cookie: async () => `${COOKIE}=${pass("0".repeat(32), Date.now(), 1, SESSION_SECONDS)}`,
    check: passes,
  },
  { name: "uncovered", host: "elsewhere.test", goal: 0.92, check: passes },
  { name: "admitted", host: "open.test", cookie: admitted, like: "pass_through_cookie", goal: 0.92, check: passes },
  // Beside the same request to a room without rules.
  { name: "admitted_50_rules", host: "ruled.test", cookie: admitted, like: "admitted", goal: 0.95, check: passes },
  { name: "newcomer_admitted", host: "open.test", goal: 0.5, check: getsPass },
  {
    name: "newcomer_queued",
    host: "full.test",
    seed: identify,
    goal: 1.0,
    check(answer) {
      assert.equal(answer.status, 200);
      assert.match(answer.header("content-type"), /^text\/html/);
      assert.notEqual(answer.header("anteroom-status"), undefined);
      setsCookie(answer);
    },
  },
  {
    name: "number_on_return",
    host: "returning.test",
    seed: identify,
    cookies: each(({ room }, n) => ticket(room, n)),
    headers: POLL,
    goal: 0.7,
    check(answer) {
      waits(answer);
      setsCookie(answer);
    },
  },
  { name: "poll", host: "full.test", cookie: waiting, headers: POLL, goal: 1.0, check: waits },
  { name: "poll_1_000", host: "thousand.test", goal: 1.0, ...behind(1_000) },
  { name: "poll_100_000", host: "hundred-thousand.test", goal: 1.0, ...behind(100_000) },
  { name: "poll_1_000_000", host: "million.test", goal: 1.0, ...behind(1_000_000) },
  {
    name: "claim",
    host: "called.test",
    seed: async (server, host) => {
      const known = await identify(server, host);
      await crowd(server, known, RATE + 60_000);
      return { ...known, called: Date.now() + CALLED_AFTER_MS };
    },
    ready: ({ called }) => sleep(Math.max(0, called - Date.now())),
    // No more than are claimed, about: the room calls others only once those who were called have come or lapsed.
    cookies: (known, count) => claimants(known, Math.ceil(count * 0.4)),
    headers: POLL,
    check(answer) {
      assert.equal(answer.json.cfWaitingRoom.admitted, true, answer.text);
      setsCookie(answer);
    },
  },
  {
    name: "renewal",
    host: "called.test",
    // After the row before, whose room it shares.
    cookies: each(({ room, incarnation }, n) => pass(room, incarnation, 1 + (n % RATE), SESSION_SECONDS)),
    check: getsPass,
  },
  {
    name: "strip_cookie",
    host: "stripped.test",
    cookie: admitted,
    like: "pass_through_cookie",
    check: passes,
    forwarded: (headers) => assert.equal(headers.has("cookie"), false),
  },
  {
    name: "assertion",
    worker: "asserting",
    host: "asserted.test",
    cookie: admitted,
    like: "pass_through_cookie",
    check: passes,
    forwarded: (headers) => assert.ok(headers.has("anteroom-assertion")),
  },
  { name: "cache_hit", worker: "asserting", host: "fresh.test", ready: filled, check: cache(/;hit/) },
  // Nothing is found here, and the upper tier's answer is stored: each time.
  { name: "tier_hit", worker: "tiered", host: "tiered.test", ready: filled, check: cache(/^upper-near;hit.*, lower;fwd=uri-miss.*;stored/) },
  // Nothing is found, and the origin's answer is not stored.
  { name: "cache_miss", worker: "asserting", host: "unstored.test", check: cache(/fwd=uri-miss/) },
  // What is found is stale, and the origin's answer is stored in its place: each time.
  { name: "cache_store", worker: "asserting", host: "stale.test", ready: filled, check: cache(/fwd=stale.*;stored/) },
];

/** What the origin of a row gets to see of a request's headers. */
async function seenByOrigin(row, { port }, headers) {
  return new Map((await request({ port, target: "/headers", host: row.host, headers })).json);
}

/** A room that has just been busy may miss a time-out, and then the answer is rightly another one. */
const ATTEMPTS = 3;

/**
 * The request of a row, after one answer has shown that it does what it should. `count` is how many
 * requests there may be.
 */
export async function prepare(row, server, known, count) {
  const headers = [...(row.headers ?? [])];
  await row.ready?.(known, server, row.host);
  const cookies = row.cookies?.(known, count);
  if (row.cookie) headers.push(["Cookie", await row.cookie(server, row.host)]);
  const attempt = async () => {
    const one = cookies ? [...headers, ["Cookie", cookies.shift()]] : headers;
    row.check(await request({ port: server.port, host: row.host, headers: one }));
    if (row.forwarded) row.forwarded(await seenByOrigin(row, server, one));
  };
  for (let left = ATTEMPTS - 1; ; left -= 1) {
    try {
      await attempt();
      break;
    } catch (error) {
      if (left === 0) throw new Error(`${row.name} is not what it says: ${error.message}`, { cause: error });
      await sleep(500);
    }
  }
  return { port: server.port, host: row.host, headers, cookies };
}
