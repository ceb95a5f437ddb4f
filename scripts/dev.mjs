// `make dev`: the demo shop, and wrangler dev with anteroom in front of it.
//
//   node scripts/dev.mjs           runs until ctrl-C
//   node scripts/dev.mjs --check   starts both on free ports, fetches the first page, ends: a test
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startShop } from "../demo/shop.mjs";

const ROOT = new URL("..", import.meta.url).pathname;
const SHOP_PORT = 8790;
const ROOM_PORT = 8787;
// The first start of wrangler dev builds the Worker when that has not been done.
const READY_WITHIN_MS = 900_000;

const check = process.argv.includes("--check");

/** Whether something answers for this port, on the loopback interface. */
function isTaken(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(true));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(false)));
  });
}

async function freePort(wanted) {
  for (let port = wanted; port < wanted + 100; port += 1) {
    if (!(await isTaken(port))) return port;
  }
  throw new Error(`no free port from ${wanted} on`);
}

/** The secrets that `wrangler secret put` sets in production. Made once, for this machine. */
function ensureDevVars() {
  const file = join(ROOT, ".dev.vars");
  if (existsSync(file)) return;
  const key = () => `dev:${randomBytes(32).toString("base64url")}`;
  const text = `# Made by \`make dev\`, for this machine. Delete it and new keys are made.
ANTEROOM_KEYS="${key()}"
ANTEROOM_ORIGIN_KEYS="${key()}"
# The demo shop. Without ORIGIN, requests go to the host that they name.
ORIGIN="http://127.0.0.1:${SHOP_PORT}"
`;
  writeFileSync(file, text, { mode: 0o600, flag: "wx" });
  console.log("Made .dev.vars with keys for development.");
}

function startWrangler(port, shopPort, state) {
  const program = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
  const args = [program, "dev", "--port", String(port), "--ip", "127.0.0.1", "--show-interactive-dev-session=false"];
  // The demo's room is on localhost, whatever routes wrangler.toml has.
  args.push("--local-upstream", `localhost:${port}`, "--upstream-protocol", "http");
  args.push("--var", `ORIGIN:http://127.0.0.1:${shopPort}`);
  if (state) args.push("--persist-to", state);
  return spawn(process.execPath, args, {
    cwd: ROOT,
    // Its own group, so that ctrl-C reaches it by us alone, and it ends with all it has started.
    detached: true,
    stdio: ["ignore", check ? "pipe" : "inherit", check ? "pipe" : "inherit"],
    env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
  });
}

/** Comes back once the Worker answers. HEAD, because a GET would take one of the two places. */
async function answers(url, isOver) {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline) {
    if (isOver()) throw new Error("wrangler dev ended before it answered");
    try {
      await fetch(url, { method: "HEAD" });
      return;
    } catch {
      await sleep(200);
    }
  }
  throw new Error(`nothing answers at ${url}`);
}

const invitation = (url, shopPort) => `
  The waiting room        ${url}
  The shop behind it      http://127.0.0.1:${shopPort}

  What to try
  1. Open ${url} in three browsers, or three profiles: private windows of one browser share
     their cookies and count as one visitor. Two are in the shop, the third waits and sees its place.
  2. Press "Leave the shop" in one that is in, or buy something. The third enters by itself.
  3. Ask as a program does:  curl -s -H 'Accept: application/json' ${url}

  Rooms are in rooms.toml; a change is built and loaded by itself. Ctrl-C ends both.
`;

async function main() {
  ensureDevVars();
  const shop = await startShop(check ? 0 : await freePort(SHOP_PORT));
  const shopPort = shop.address().port;
  const port = await freePort(check ? ROOM_PORT + 1000 : ROOM_PORT);
  const state = check ? mkdtempSync(join(tmpdir(), "anteroom-dev-")) : undefined;

  const wrangler = startWrangler(port, shopPort, state);
  let over = false;
  const ended = new Promise((resolve) => {
    wrangler.once("exit", (code) => {
      over = true;
      resolve(code ?? 0);
    });
  });
  let log = "";
  for (const stream of [wrangler.stdout, wrangler.stderr]) {
    stream?.on("data", (chunk) => {
      log += chunk;
    });
  }
  let stopped = false;
  const stop = () => {
    stopped = true;
    if (!over) process.kill(-wrangler.pid, "SIGTERM");
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);

  let code;
  try {
    const url = `http://localhost:${port}/`;
    await answers(url, () => over);
    if (check) {
      const answer = await fetch(url, { headers: { Accept: "text/html" } });
      const body = await answer.text();
      if (answer.status !== 200 || !body.includes("Harbour Goods")) {
        throw new Error(`the first page is not the shop but ${answer.status}:\n${body.slice(0, 2000)}`);
      }
      console.log(`make dev: ${url} answers with the shop`);
      stop();
      await ended;
      code = 0;
    } else {
      console.log(invitation(url, shopPort));
      code = await ended;
      // Ended by ctrl-C, wrangler tells of a signal; that is no failure.
      if (stopped) code = 0;
    }
  } catch (error) {
    stop();
    await ended;
    if (log) console.error(log);
    console.error(`make dev: ${error.message}`);
    code = 1;
  } finally {
    shop.close();
    shop.closeAllConnections();
    if (state) rmSync(state, { recursive: true, force: true });
  }
  process.exit(code);
}

await main();
