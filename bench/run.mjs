// Measures anteroom against a pass-through Worker: raw workerd, an origin on loopback, wrk as the
// client, several alternating rounds in one run. Prints a table and writes target/bench.json.
//
//   node bench/run.mjs [--rounds N] [--seconds S]
//
// Only 127.0.0.1 is ever a target, and only processes that this program has started are ended.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const root = resolve(import.meta.dirname, "..");
const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "4" },
    worker: { type: "string", default: join(root, "target/bench-worker") },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const CONNECTIONS = 32;
const SECRET = Buffer.alloc(32, 7).toString("base64url");

/** The rows: how each request looks, what its answer must be, and the goal for its ratio. */
const rows = [
  { name: "pass_through", server: "plain", host: "elsewhere.test", expect: { body: "the site\n" } },
  { name: "uncovered", host: "elsewhere.test", goal: 0.92, expect: { body: "the site\n" } },
  { name: "admitted", host: "open.test", pass: true, goal: 0.88, expect: { body: "the site\n", cookie: false } },
  { name: "poll", host: "full.test", place: true, poll: true, goal: 1.0, expect: { json: true } },
  { name: "newcomer_admitted", host: "open.test", expect: { body: "the site\n", cookie: true } },
  { name: "newcomer_queued", host: "full.test", expect: { status: "joining", cookie: true } },
  { name: "admitted_stripped", host: "stripped.test", pass: true, expect: { body: "the site\n" } },
  { name: "admitted_asserted", host: "asserted.test", pass: true, expect: { body: "the site\n" } },
];

const started = [];
const scratch = mkdtempSync(join(tmpdir(), "anteroom-bench-"));
process.on("exit", () => {
  for (const child of started) child.kill("SIGKILL");
  rmSync(scratch, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

function needWrk() {
  if (spawnSync("wrk", ["--version"]).error === undefined) return;
  if (process.getuid?.() !== 0) {
    console.error("bench: wrk is missing. Install it with\n\n    sudo apt-get install wrk\n");
    process.exit(1);
  }
  execFileSync("apt-get", ["install", "--yes", "--quiet=2", "wrk"], { stdio: "inherit" });
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

function fetchText(port, host, headers = {}) {
  return new Promise((done, fail) => {
    const options = { host: "127.0.0.1", port, path: "/", headers: { Host: host, ...headers } };
    const request = httpRequest(options, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk) => (body += chunk));
      response.on("end", () => done({ body, headers: response.headers }));
    });
    request.on("error", fail).end();
  });
}

async function serve(name, worker) {
  const port = await freePort();
  const config = join(scratch, `${name}.capnp`);
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (compatibilityDate = "2026-11-01",${worker.fields}
    modules = [${worker.modules.map(module).join(", ")}]))${worker.services ?? ""}],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);\n`,
  );
  const binary = join(root, "node_modules/workerd/bin/workerd");
  const child = spawn(binary, ["serve", "--experimental", config], { stdio: ["ignore", "ignore", "inherit"] });
  started.push(child);
  const deadline = Date.now() + 20_000;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`workerd (${name}) has ended`);
    const answer = await fetchText(port, "elsewhere.test").catch(() => undefined);
    if (answer) return port;
    if (Date.now() > deadline) throw new Error(`workerd (${name}) does not answer`);
    await new Promise((next) => setTimeout(next, 50));
  }
}

function module({ name, kind, file }) {
  // workerd embeds files relative to its configuration.
  const copy = join(scratch, `${Math.random().toString(36).slice(2)}-${name}`);
  writeFileSync(copy, readFileSync(file));
  return `(name = "${name}", ${kind} = embed "${copy.split("/").at(-1)}")`;
}

function script(file) {
  return [{ name: "main.mjs", kind: "esModule", file: join(root, "bench", file) }];
}

/** The cookie of a newcomer's answer. */
async function cookieFrom(port, host, cookie) {
  const answer = await fetchText(port, host, cookie ? { Cookie: cookie } : {});
  const set = (answer.headers["set-cookie"] ?? []).find((line) => line.startsWith("__cfwaitingroom="));
  if (!set) throw new Error(`${host} has given no cookie`);
  return set.split(";")[0];
}

async function prepare(row, ports) {
  row.port = row.server === "plain" ? ports.plain : ports.anteroom;
  row.headers = {};
  if (row.pass) row.headers.Cookie = await cookieFrom(row.port, row.host);
  if (row.place) {
    await cookieFrom(row.port, row.host); // takes the one slot, unless it is taken
    const ticket = await cookieFrom(row.port, row.host);
    row.headers.Cookie = await cookieFrom(row.port, row.host, ticket);
  }
  if (row.poll) row.headers["Anteroom-Poll"] = "1";
  await check(row);
}

/** A row that does not measure what it says is worse than none. */
async function check(row) {
  const answer = await fetchText(row.port, row.host, row.headers);
  const { expect } = row;
  const wrong = (what) => {
    throw new Error(`${row.name}: ${what}: ${JSON.stringify(answer).slice(0, 300)}`);
  };
  if (expect.body !== undefined && answer.body !== expect.body) wrong("does not come from the origin");
  if (expect.json && !JSON.parse(answer.body).cfWaitingRoom.positionKnown) wrong("is no place in line");
  if (expect.status && answer.headers["anteroom-status"] !== expect.status) wrong(`is not ${expect.status}`);
  if (expect.cookie !== undefined && ("set-cookie" in answer.headers) !== expect.cookie) wrong("cookie");
}

function wrk(row, duration) {
  const headers = Object.entries({ Host: row.host, ...row.headers }).flatMap(([name, value]) => [
    "--header",
    `${name}: ${value}`,
  ]);
  const args = ["-t1", `-c${CONNECTIONS}`, `-d${duration}s`, "--latency", ...headers];
  const child = spawnSync("wrk", [...args, `http://127.0.0.1:${row.port}/`], { encoding: "utf8" });
  const number = (pattern) => pattern.exec(child.stdout)?.slice(1) ?? [];
  const [perSecond] = number(/Requests\/sec:\s+([\d.]+)/);
  const millis = ([value, unit] = []) => Number(value) * { us: 0.001, ms: 1, s: 1000 }[unit];
  if (/Non-2xx|Socket errors/.test(child.stdout)) throw new Error(`${row.name}:\n${child.stdout}`);
  return {
    perSecond: Number(perSecond),
    p50: millis(number(/50%\s+([\d.]+)(us|ms|s)/)),
    p99: millis(number(/99%\s+([\d.]+)(us|ms|s)/)),
  };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const round = (value, digits) => Number(value.toFixed(digits));

needWrk();
const origin = await serve("origin", { fields: "", modules: script("origin.mjs") });
const outbound = ` globalOutbound = "origin",`;
const services = `, (name = "origin", external = (address = "127.0.0.1:${origin}", http = ()))`;
const ports = {
  plain: await serve("plain", { fields: outbound, services, modules: script("pass-through.mjs") }),
  anteroom: await serve("anteroom", {
    fields: `${outbound} durableObjectNamespaces = [(className = "Room", uniqueKey = "room", enableSql = true)],
    durableObjectStorage = (localDisk = "disk"), bindings = [
      (name = "ROOM", durableObjectNamespace = "Room"),
      (name = "ANTEROOM_KEYS", text = "bench:${SECRET}"),
      (name = "ANTEROOM_ORIGIN_KEYS", text = "origin:${SECRET}")],`,
    services: `${services}, (name = "disk", disk = (path = "${scratch}", writable = true))`,
    modules: [
      { name: "index.js", kind: "esModule", file: join(values.worker, "index.js") },
      { name: "index_bg.wasm", kind: "wasm", file: join(values.worker, "index_bg.wasm") },
    ],
  }),
};

for (const row of rows) {
  await prepare(row, ports);
  wrk(row, 1); // compiles and warms up
}
for (let number = 0; number < rounds; number += 1) {
  process.stderr.write(`round ${number + 1} of ${rounds}:`);
  for (const row of rows) {
    process.stderr.write(` ${row.name}`);
    (row.results ??= []).push(wrk(row, seconds));
  }
  process.stderr.write("\n");
}
const [plain] = rows;
for (const row of rows) {
  // Each round is compared with the pass-through of the same round: what slows the machine down for
  // a while slows both.
  row.ratio = round(median(row.results.map((result, n) => result.perSecond / plain.results[n].perSecond)), 3);
  for (const [to, from, digits] of [["requests_per_s", "perSecond", 0], ["p50_ms", "p50", 2], ["p99_ms", "p99", 2]]) {
    row[to] = round(median(row.results.map((result) => result[from])), digits);
  }
}

const version = (name) => JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"))).version;
const about = {
  machine: `${cpus().length} × ${cpus()[0]?.model.trim()}`,
  workerd: version("workerd"),
  wrk: `${CONNECTIONS} connections, ${rounds} rounds of ${seconds} s, medians`,
  command: "make bench",
};
mkdirSync(join(root, "target"), { recursive: true });
const report = rows.map(({ name, ratio, requests_per_s, p50_ms, p99_ms }) => ({
  name, ratio, requests_per_s, p50_ms, p99_ms,
}));
writeFileSync(join(root, "target/bench.json"), `${JSON.stringify({ about, rows: report }, null, 2)}\n`);

console.log(`${about.machine}, workerd ${about.workerd}, ${about.wrk}\n`);
console.log("| row | ratio | goal | requests/s | p50 ms | p99 ms |\n|---|---|---|---|---|---|");
for (const row of rows) {
  const goal = row.goal ? `${row.goal.toFixed(2)} ${row.ratio >= row.goal ? "met" : "missed"}` : "";
  const { name, ratio, requests_per_s, p50_ms, p99_ms } = row;
  console.log(`| ${name} | ${ratio.toFixed(3)} | ${goal} | ${requests_per_s} | ${p50_ms} | ${p99_ms} |`);
}
process.exit(0);
