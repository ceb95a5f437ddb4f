// What is measured: each row a request that wrk repeats, and the proof that it is what its name says.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { request, Visitor } from "./client.mjs";

const COOKIE = "__cfwaitingroom";

const fromOrigin = (answer) => {
  assert.equal(answer.status, 200);
  assert.equal(answer.text, "the site\n", "not the origin's answer");
};
const passes = (answer) => {
  fromOrigin(answer);
  assert.equal(answer.header("set-cookie"), undefined, "a new cookie");
};
const setsCookie = (answer) => assert.match(answer.header("set-cookie") ?? "", new RegExp(`^${COOKIE}=`));

/** A visitor who is let in. */
async function admitted(port, host) {
  const visitor = new Visitor(port);
  fromOrigin(await visitor.get(`http://${host}/`));
  return visitor;
}

/** A visitor with a number: the first answer gives a ticket, which the next request exchanges. */
async function waiting(port, host) {
  const url = `http://${host}/`;
  // Whoever comes first takes the one place, and stays.
  await new Visitor(port).get(url);
  const visitor = new Visitor(port);
  await visitor.get(url);
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const answer = await visitor.poll(url);
    if (answer.json.cfWaitingRoom?.positionKnown === true) return visitor;
    await sleep(250);
  }
  throw new Error(`${host} gives no number`);
}

/** What of the request's headers the origin of a row gets to see. */
async function seenByOrigin(row, port, headers) {
  return new Map((await request({ port, target: "/headers", host: row.host, headers })).json);
}

/**
 * The rows. `worker` is which one serves, anteroom if none is named; `visitor` makes whose cookie is sent; `check` looks at
 * one answer, `forwarded` at what the origin got. `goal` is the least ratio to pass_through.
 */
export const ROWS = [
  { name: "pass_through", worker: "plain", host: "elsewhere.test", check: passes },
  { name: "uncovered", host: "elsewhere.test", goal: 0.92, check: passes },
  { name: "admitted", host: "open.test", visitor: admitted, goal: 0.88, check: passes },
  {
    name: "poll",
    host: "full.test",
    visitor: waiting,
    headers: [["Anteroom-Poll", "1"]],
    goal: 1.0,
    check(answer) {
      assert.ok([200, 202].includes(answer.status), `status ${answer.status}`);
      assert.equal(answer.json.cfWaitingRoom.inWaitingRoom, true);
      assert.equal(answer.json.cfWaitingRoom.positionKnown, true);
    },
  },
  {
    name: "newcomer_admitted",
    host: "open.test",
    check(answer) {
      fromOrigin(answer);
      setsCookie(answer);
    },
  },
  {
    name: "newcomer_queued",
    host: "full.test",
    check(answer) {
      assert.equal(answer.status, 200);
      assert.match(answer.header("content-type"), /^text\/html/);
      assert.notEqual(answer.header("anteroom-status"), undefined);
      setsCookie(answer);
    },
  },
  {
    name: "strip_cookie",
    host: "stripped.test",
    visitor: admitted,
    check: passes,
    forwarded: (headers) => assert.equal(headers.has("cookie"), false),
  },
  {
    name: "assertion",
    worker: "asserting",
    host: "asserted.test",
    visitor: admitted,
    check: passes,
    forwarded: (headers) => assert.ok(headers.has("anteroom-assertion")),
  },
];

/** The headers to repeat for a row, after one answer has shown that they do what they should. */
export async function prepare(row, port) {
  const headers = [...(row.headers ?? [])];
  if (row.visitor) {
    const visitor = await row.visitor(port, row.host);
    headers.push(["Cookie", visitor.cookieHeader(`http://${row.host}/`)]);
  }
  try {
    row.check(await request({ port, host: row.host, headers }));
    if (row.forwarded) row.forwarded(await seenByOrigin(row, port, headers));
  } catch (error) {
    throw new Error(`${row.name} is not what it says: ${error.message}`, { cause: error });
  }
  return headers;
}
