// `make deploy-check`: would `wrangler deploy` work, how large is the Worker, is every room's host
// routed to it whole?
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { parse } from "smol-toml";
import { checkRoutes } from "./routes.mjs";

const ROOT = new URL("..", import.meta.url).pathname;
const OUT = join(ROOT, "target/dry-run");
const GOAL_BYTES = 700_000;
/** Cloudflare's limit on the Free plan: 3 MB after compression. */
const LIMIT_BYTES = 3_000_000;

const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;

function dryRun() {
  rmSync(OUT, { recursive: true, force: true });
  const program = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
  const { status } = spawnSync(process.execPath, [program, "deploy", "--dry-run", "--outdir", OUT], {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
  });
  return status === 0;
}

/** The size of what is uploaded: the modules, not the source map and the note beside them. */
function uploadSize() {
  const modules = readdirSync(OUT).filter((name) => /\.(m?js|wasm)$/.test(name));
  const contents = modules.map((name) => readFileSync(join(OUT, name)));
  const raw = contents.reduce((sum, content) => sum + content.length, 0);
  const gzip = contents.reduce((sum, content) => sum + gzipSync(content).length, 0);
  return { raw, gzip };
}

function main() {
  const faults = [];
  if (dryRun()) {
    const { raw, gzip } = uploadSize();
    console.log(`Size: ${kilobytes(raw)}, ${kilobytes(gzip)} after gzip (goal ${kilobytes(GOAL_BYTES)}).`);
    if (gzip > LIMIT_BYTES) faults.push(`${kilobytes(gzip)} is more than Cloudflare takes on the Free plan.`);
    else if (gzip > GOAL_BYTES) console.warn(`Warning: the size is over the goal.`);
  } else {
    faults.push("wrangler deploy --dry-run failed.");
  }

  const read = (name) => parse(readFileSync(join(ROOT, name), "utf8"));
  const routes = checkRoutes(read("wrangler.toml"), read("rooms.toml"));
  for (const note of routes.notes) console.log(`Route: ${note}`);
  faults.push(...routes.faults);

  for (const fault of faults) console.error(`deploy-check: ${fault}`);
  return faults.length === 0 ? 0 : 1;
}

process.exitCode = main();
