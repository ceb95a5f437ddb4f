// Load, by wrk: one thread, so that the other core is the Worker's.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

export const CONNECTIONS = 32;

/** The figures of wrk, written by wrk.lua. */
const FIGURES = /^figures (.*)$/m;

/**
 * Repeats one request for some seconds; with `cookies`, each with the next of them.
 *
 * @returns {Promise<{requests: number, requestsPerSecond: number, p50: number, p99: number}>} Latencies in
 *   milliseconds.
 */
export async function load({ port, host, headers, cookies, seconds }) {
  const folder = mkdtempSync(join(tmpdir(), "anteroom-wrk-"));
  try {
    const pool = join(folder, "cookies");
    if (cookies) writeFileSync(pool, `${cookies.join("\n")}\n`);
    const fields = [["Host", host], ...headers].flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
    const script = new URL("wrk.lua", import.meta.url).pathname;
    const args = ["--threads", "1", "--connections", String(CONNECTIONS), "--duration", `${seconds}s`];
    const url = `http://127.0.0.1:${port}/`;
    const wrk = spawn("wrk", [...args, "--script", script, ...fields, url, ...(cookies ? ["--", pool] : [])], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [output, [code]] = await Promise.all([text(wrk.stdout), once(wrk, "exit")]);
    const figures = FIGURES.exec(output)?.[1];
    if (code !== 0 || !figures) throw new Error(`wrk failed:\n${output}`);
    const { requests, microseconds, p50, p99, errors } = JSON.parse(figures);
    if (errors > 0) throw new Error(`${errors} of ${requests} requests failed:\n${output}`);
    return { requests, requestsPerSecond: requests / (microseconds / 1e6), p50: p50 / 1000, p99: p99 / 1000 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
