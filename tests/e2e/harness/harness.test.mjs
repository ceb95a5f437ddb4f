// The harness itself, before a Worker, an origin and a client are blamed for its mistakes.
import assert from "node:assert/strict";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { after, before, beforeEach, test } from "node:test";
import { closeConnections, request, sendRaw, Visitor } from "./client.mjs";
import { Origin } from "./origin.mjs";
import { TEST_KEYS, Workerd, workerFolder } from "./workerd.mjs";

const WORKER = `
export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    if (url.pathname === "/seen") return Response.json({ url: request.url, cf: request.cf ?? null, keys: env.ANTEROOM_KEYS, extra: env.EXTRA ?? null });
    if (url.pathname === "/count") return env.ROOM.get(env.ROOM.idFromName("a")).fetch(request);
    return fetch(request);
  },
};
export class Room {
  constructor(state) {
    this.sql = state.storage.sql;
    this.sql.exec("CREATE TABLE IF NOT EXISTS n (at INTEGER)");
  }
  fetch() {
    this.sql.exec("INSERT INTO n VALUES (1)");
    return new Response(String(this.sql.exec("SELECT count(*) AS n FROM n").one().n));
  }
}`;

const folder = workerFolder(WORKER);
let origin, workerd;
before(async () => {
  origin = await Origin.start();
  workerd = await Workerd.start({
    worker: folder,
    origin: origin.address,
    bindings: { EXTRA: 'with "quotes"' },
    cfHeader: "Test-Cf",
  });
});
beforeEach(() => origin.reset());
after(async () => {
  closeConnections();
  await workerd?.stop();
  await origin?.stop();
  rmSync(folder, { recursive: true });
});

const send = (options) => request({ port: workerd.port, ...options });

test("the Worker sees the host, the scheme, the variables and cf that the test sends", async () => {
  const plain = await send({ target: "/seen", host: "shop.example.com" });
  assert.equal(plain.status, 200);
  assert.equal(plain.json.url, "http://shop.example.com/seen");
  assert.equal(plain.json.keys, TEST_KEYS);
  assert.equal(plain.json.extra, 'with "quotes"');
  const cf = JSON.stringify({ country: "JP" });
  const secure = await send({ target: "/seen", host: "shop.example.com", https: true, headers: [["Test-Cf", cf]] });
  assert.equal(secure.json.url, "https://shop.example.com/seen");
  assert.equal(secure.json.cf.country, "JP");
});

test("the origin records method, target, headers in order, and body", async () => {
  const body = Buffer.from([0, 255, 10, 13]);
  const headers = [["X-Twice", "1"], ["Accept", "x/y"]];
  const answer = await send({ method: "POST", target: "/a%2Fb//c?d=%20", host: "a.example.com", headers, body });
  assert.equal(answer.text, "origin");
  assert.equal(origin.requests.length, 1);
  const [seen] = origin.requests;
  assert.equal(seen.method, "POST");
  assert.equal(seen.target, "/a%2Fb//c?d=%20");
  assert.equal(seen.header("host"), "a.example.com");
  assert.equal(seen.header("x-twice"), "1");
  assert.deepEqual(seen.body, body);
});

test("https, too, goes to the test's origin, under any host", async () => {
  await send({ target: "/secure", host: "b.example.com", https: true });
  assert.equal(origin.to("/secure")[0].header("host"), "b.example.com");
});

test("headers that come twice stay two lines, both ways", async () => {
  origin.respond("/two", { status: 418, headers: [["Set-Cookie", "a=1"], ["Set-Cookie", "b=2"]], body: "tea" });
  const answer = await send({ target: "/two", headers: [["Cookie", "x=1"], ["Cookie", "y=2"]] });
  assert.equal(answer.status, 418);
  assert.deepEqual(answer.headers("set-cookie"), ["a=1", "b=2"]);
  const direct = await request({
    port: Number(origin.address.split(":")[1]),
    target: "/direct",
    headers: [["X-A", "1"], ["X-A", "2"]],
  });
  assert.equal(direct.status, 200);
  assert.deepEqual(origin.to("/direct")[0].headers("x-a"), ["1", "2"]);
});

test("an answer is held until it is released", async () => {
  const gate = origin.respond("/held", { hold: true, body: "now" });
  let answered = false;
  const pending = send({ target: "/held" }).then((answer) => {
    answered = true;
    return answer;
  });
  await origin.waitFor((seen) => seen.path === "/held");
  // A whole other round trip: the held answer had its chance.
  await send({ target: "/other" });
  assert.equal(answered, false);
  gate.release();
  assert.equal((await pending).text, "now");
});

test("a body is streamed", async () => {
  async function* parts() {
    for (let part = 0; part < 64; part += 1) yield Buffer.alloc(16_384, part);
  }
  origin.respond("/stream", { body: parts() });
  const answer = await send({ target: "/stream" });
  assert.equal(answer.body.length, 64 * 16_384);
  assert.equal(answer.body.at(-1), 63);
});

test("WebSockets are echoed, and a refusal shows its status", async () => {
  const visitor = new Visitor(workerd.port);
  const socket = await visitor.webSocket("http://a.example.com/chat");
  socket.send("hello");
  const [data] = await once(socket, "message");
  assert.equal(data.toString(), "hello");
  socket.terminate();
  assert.equal(origin.to("/chat")[0].header("host"), "a.example.com");
  await assert.rejects(visitor.webSocket("http://a.example.com/seen"), { status: 200 });
});

test("objects outlive kill -9, on the same port", async () => {
  const count = async () => Number((await send({ target: "/count" })).text);
  const first = await count();
  const { port } = workerd;
  await workerd.restart();
  assert.equal(workerd.port, port);
  assert.equal(await count(), first + 1);
});

test("a visitor's cookies obey domain, path, lifetime and Secure, as a browser's do", async () => {
  const visitor = new Visitor(workerd.port);
  const lines = [
    "wide=1; Domain=example.com; Path=/shop; HttpOnly",
    "narrow=1",
    "gone=1; Max-Age=0",
    "foreign=1; Domain=example.org",
    "suffix=1; Domain=com",
    "safe=1; Secure; Path=/",
  ];
  origin.respond("/shop/x", { headers: lines.map((line) => ["Set-Cookie", line]) });
  await visitor.get("https://a.example.com/shop/x");
  const sent = async (url) => {
    origin.reset();
    await visitor.get(url);
    return origin.requests[0].header("cookie")?.split("; ").sort();
  };
  assert.deepEqual(await sent("https://a.example.com/shop/y"), ["narrow=1", "safe=1", "wide=1"]);
  assert.deepEqual(await sent("https://b.example.com/shop"), ["wide=1"]);
  assert.deepEqual(await sent("http://a.example.com/shop/y"), ["narrow=1", "wide=1"]);
  assert.deepEqual(await sent("https://a.example.com/"), ["safe=1"]);
  assert.equal(await sent("https://example.org/shop"), undefined);
  const copy = visitor.copy();
  copy.setCookie("https://a.example.com/", "own=1");
  assert.equal(copy.cookie("https://a.example.com/", "own"), "1");
  assert.equal(visitor.cookie("https://a.example.com/", "own"), undefined);
});

test("bytes that are no HTTP get an answer and no harm", async () => {
  const answer = await sendRaw(workerd.port, "NONSENSE\r\n\r\n");
  assert.match(answer.toString(), /^HTTP\/1\.1 [45]\d\d /);
  assert.equal((await send({ target: "/after" })).status, 200);
});

test("a Worker that does not start is reported with its reason", async () => {
  const broken = workerFolder("export default {} nonsense");
  try {
    await assert.rejects(Workerd.start({ worker: broken, origin: origin.address, objects: {} }), /SyntaxError/);
  } finally {
    rmSync(broken, { recursive: true });
  }
});
