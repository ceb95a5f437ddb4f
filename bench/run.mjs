// `make bench`: anteroom beside a Worker that only passes requests on. Raw workerd, an origin on
// loopback, wrk. The rows take turns, several rounds in one run; what slows the machine down for a while
// slows a round's pass_through too, so ratios are taken within a round, and medians over the rounds.
//
//   node bench/run.mjs [--rounds N] [--seconds S] [--rows NAME,NAME...]
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { closeConnections } from "./client.mjs";
import { TEST_TIER_KEYS, Workerd } from "./workerd.mjs";
import { prepare, ROWS } from "./rows.mjs";
import { CONNECTIONS, load } from "./wrk.mjs";

const ROOT = new URL("..", import.meta.url).pathname;
/** The whole run, the build included, ends within this. */
const LIMIT_SECONDS = 900;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    seconds: { type: "string", default: "3" },
    rows: { type: "string" },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);

/** The rows that are measured: all, or those that are named and those that they are compared with. */
function chosen() {
  if (!values.rows) return ROWS;
  const names = new Set(["pass_through", ...values.rows.split(",")]);
  const unknown = [...names].find((name) => !ROWS.some((row) => row.name === name));
  if (unknown) throw new Error(`there is no row ${unknown}`);
  // What a row is compared with stands before it.
  for (const { name, like } of ROWS.toReversed()) if (like && names.has(name)) names.add(like);
  return ROWS.filter(({ name }) => names.has(name));
}
const CHOSEN = chosen();

function build(out, rooms) {
  const { status } = spawnSync("scripts/build-worker.sh", ["--out", out], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, ANTEROOM_ROOMS: rooms },
  });
  if (status !== 0) throw new Error("the Worker does not build");
  return join(ROOT, out);
}

const median = (numbers) => {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};
const rounded = (value, digits) => Number(value.toFixed(digits));

/** More requests than any row serves in a second. */
const MOST_PER_SECOND = 3_000;

/** Seconds of processor time that a process has used. */
function processorTime(pid) {
  // proc_pid_stat(5): utime and stime, in ticks of 10 ms, are the 12th and 13th field after the name.
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The rows on their servers. */
class Rows {
  #servers;
  #known = new Map();

  constructor(servers) {
    this.#servers = servers;
  }

  #serverOf(row) {
    return this.#servers[row.worker ?? "anteroom"];
  }

  /** Fills the rooms of the rows. */
  async seed(rows) {
    for (const row of rows) {
      if (row.seed) this.#known.set(row.host, await row.seed(this.#serverOf(row), row.host));
    }
  }

  /** Loads a row. Prepared anew each time: a place in line lapses when nobody polls for a while. */
  async load(row, length) {
    const server = this.#serverOf(row);
    const prepared = await prepare(row, server, this.#known.get(row.host), length * MOST_PER_SECOND);
    const before = processorTime(server.pid);
    const figures = await load({ ...prepared, seconds: length });
    const used = processorTime(server.pid) - before;
    return { ...figures, cpuMicroseconds: (used * 1e6) / figures.requests };
  }
}

/** Measures all rows, round by round, as many rounds as the time allows. */
async function measure(servers) {
  const results = new Map(CHOSEN.map((row) => [row.name, []]));
  const all = new Rows(servers);
  console.log("Filling the rooms");
  await all.seed(CHOSEN);
  console.log("Warming up");
  for (const row of CHOSEN) await all.load(row, 2);
  const roundSeconds = CHOSEN.length * (seconds + 1.5);
  for (let round = 0; round < rounds; round += 1) {
    if (process.uptime() + roundSeconds > LIMIT_SECONDS - 60) {
      console.log(`The time is up after ${round} of ${rounds} rounds`);
      break;
    }
    console.log(`Round ${round + 1} of ${rounds}`);
    // Another row begins each time, so that none always follows the same one.
    for (let turn = 0; turn < CHOSEN.length; turn += 1) {
      const row = CHOSEN[(round + turn) % CHOSEN.length];
      results.get(row.name).push(await all.load(row, seconds));
    }
  }
  if (results.get("pass_through").length === 0) throw new Error("no time was left to measure");
  return results;
}

/** Origin fetches of a skewed load over ten data centres: arithmetic, the same on every machine. */
function simulateTiers() {
  const { status, stdout } = spawnSync("cargo", ["run", "--quiet", "--example", "tier_load"], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error("the example tier_load fails");
  return stdout.trim().split("\n");
}

/** How often the room is called for 1,000 requests at the edge, in the kinds of traffic that matter. */
const COUNTED = ["admitted", "poll", "newcomer_queued", "newcomer_admitted", "number_on_return"];

async function count(server) {
  const all = new Rows({ anteroom: server });
  const rows = CHOSEN.filter((row) => COUNTED.includes(row.name));
  await all.seed(rows);
  const calls = {};
  for (const row of rows) {
    await all.load(row, 1);
    const before = await server.calls();
    const { requests } = await all.load(row, 3);
    calls[row.name] = rounded((((await server.calls()) - before) * 1000) / requests, 1);
  }
  return calls;
}

function summarise(results) {
  return CHOSEN.map(({ name, like }) => {
    const figures = results.get(name);
    const plain = results.get(like ?? "pass_through");
    const ratios = figures.map((figure, round) => figure.requestsPerSecond / plain[round].requestsPerSecond);
    return {
      name,
      ratio: rounded(median(ratios), 3),
      requests_per_s: rounded(median(figures.map((figure) => figure.requestsPerSecond)), 0),
      cpu_us: rounded(median(figures.map((figure) => figure.cpuMicroseconds)), 0),
      p50_ms: rounded(median(figures.map((figure) => figure.p50)), 2),
      p99_ms: rounded(median(figures.map((figure) => figure.p99)), 2),
    };
  });
}

function describe(loadBefore, rounds) {
  const version = (name) => JSON.parse(readFileSync(join(ROOT, "node_modules", name, "package.json"))).version;
  const rust = spawnSync("rustc", ["--version"], { cwd: ROOT, encoding: "utf8" }).stdout?.trim();
  return {
    machine: `${cpus().length} × ${cpus()[0]?.model.trim()}`,
    load_before: rounded(loadBefore, 2),
    workerd: version("workerd"),
    rust,
    method: `wrk, 1 thread, ${CONNECTIONS} connections, ${rounds} rounds of ${seconds} s, medians`,
  };
}

function print(about, rows, calls) {
  console.log(`\n${about.machine}; workerd ${about.workerd}; ${about.rust}\n${about.method}\n`);
  if (about.load_before > 0.5) console.log(`The machine was busy (load ${about.load_before}): measure again when it is not.\n`);
  const cells = rows.map(({ name, ratio, requests_per_s, cpu_us, p50_ms, p99_ms }) => {
    const { goal } = ROWS.find((row) => row.name === name);
    const verdict = goal === undefined ? "" : `>= ${goal.toFixed(2)} ${ratio >= goal ? "held" : "MISSED"}`;
    return [name, ratio.toFixed(3), verdict, String(requests_per_s), String(cpu_us), p50_ms.toFixed(2), p99_ms.toFixed(2)];
  });
  const table = [["row", "ratio", "goal", "requests/s", "cpu us", "p50 ms", "p99 ms"], ...cells];
  const widths = table[0].map((_, column) => Math.max(...table.map((line) => line[column].length)));
  for (const line of table) {
    const text = line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])));
    console.log(text.join("  "));
  }
  console.log("\ncalls to the room for 1,000 requests at the edge");
  for (const [name, count] of Object.entries(calls)) console.log(`  ${name}: ${count}`);
}

async function main() {
  const worker = build("target/bench-worker", "bench/rooms.toml");
  const asserting = build("target/bench-assertion-worker", "bench/assertion.toml");
  const loadBefore = loadavg()[0];
  await using stack = new AsyncDisposableStack();
  // A signal ends what was started, too.
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => stack.disposeAsync().finally(() => process.exit(130)));
  }
  const serve = async (options) => stack.use(await Workerd.start({ objects: {}, ...options }));
  const nowhere = "127.0.0.1:9";
  const origin = await serve({ worker: join(ROOT, "bench/origin.mjs"), origin: nowhere });
  const address = `127.0.0.1:${origin.port}`;
  const plain = await serve({ worker: join(ROOT, "bench/pass-through.mjs"), origin: address });
  const objects = { ROOM: "Room", RELAY: "Relay" };
  const cache = (name) => join(ROOT, "bench", name);
  const ANTEROOM_TIER_KEYS = TEST_TIER_KEYS;
  const tier = await serve({
    worker: asserting,
    origin: address,
    cache: cache("cache.mjs"),
    bindings: { ANTEROOM_TIER: "near", ANTEROOM_TIER_KEYS },
  });
  const servers = {
    plain,
    tiered: await serve({
      worker: asserting,
      origin: address,
      cache: cache("forgetful.mjs"),
      services: { TIER_NEAR: `127.0.0.1:${tier.port}` },
      bindings: { ANTEROOM_TIER_KEYS },
    }),
    anteroom: await serve({ worker, origin: address, objects, bindings: { ANTEROOM_ORIGIN_KEYS: undefined } }),
    asserting: await serve({ worker: asserting, origin: address, objects, cache: cache("cache.mjs") }),
  };

  // First, since it is short and would else lose what was measured should it fail.
  console.log("Counting calls");
  const bindings = { ANTEROOM_ORIGIN_KEYS: undefined };
  const calls = await count(await serve({ worker, origin: address, objects, bindings, counts: true }));

  const results = await measure(servers);
  const rows = summarise(results);
  const about = describe(loadBefore, results.get("pass_through").length);
  mkdirSync(join(ROOT, "target"), { recursive: true });
  writeFileSync(join(ROOT, "target/bench.json"), `${JSON.stringify({ about, rows, calls }, null, 2)}\n`);
  print(about, rows, calls);
  if (rows.some(({ name }) => name === "tier_hit")) {
    console.log("\norigin fetches of a skewed load over ten data centres, simulated");
    for (const line of simulateTiers()) console.log(`  ${line}`);
  }
  closeConnections();
}

await main();
