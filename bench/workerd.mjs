// Runs a built Worker in workerd, the runtime of Cloudflare Workers, with nothing in between: one
// process, one Durable Object namespace, and an origin to which every `fetch` goes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const PROGRAM = createRequire(import.meta.url)("workerd").default;
const COMPATIBILITY_DATE = "2026-11-01";
/** Starting includes compiling the WASM; a loaded machine takes seconds, never this long. */
const READY_WITHIN_MS = 60_000;

/** Keys for tests: `kid:base64url`. */
export const TEST_KEYS = `test:${Buffer.alloc(32, 7).toString("base64url")}`;
export const TEST_TIER_KEYS = `tier:${Buffer.alloc(32, 11).toString("base64url")}`;
export const TEST_ORIGIN_KEYS = `origin:${Buffer.alloc(32, 9).toString("base64url")}`;

/** A text as Cap'n Proto writes it. JSON's escapes are a part of Cap'n Proto's, but for \u. */
const quote = (text) => {
  if (/[^\x20-\x7e\n\t]/.test(text)) throw new Error(`not printable ASCII: ${JSON.stringify(text)}`);
  return JSON.stringify(text);
};

/** The modules of a folder that worker-build made: index.js is the entry and therefore first. */
function modulesOf(folder) {
  const names = readdirSync(folder).filter((name) => /\.(js|mjs|wasm)$/.test(name));
  const entry = names.includes("index.js") ? "index.js" : names[0];
  return [entry, ...names.filter((name) => name !== entry)];
}

/** The Worker of direct.mjs beside the measured one: the benchmark's own way to the rooms' objects. */
const DIRECT = `
const direct :Workerd.Worker = (
  modules = [(name = "direct.mjs", esModule = embed "direct.mjs")],
  compatibilityDate = ${quote(COMPATIBILITY_DATE)},
  durableObjectNamespaces = [(className = "Room", uniqueKey = "direct")],
  durableObjectStorage = (inMemory = void),
  bindings = [(name = "ROOM", durableObjectNamespace = (className = "Room", serviceName = "main"))],
);
`;

/** The Worker of cache.mjs as the runtime's cache. */
const CACHE = `
const cache :Workerd.Worker = (
  modules = [(name = "cache.mjs", esModule = embed "cache.mjs")],
  compatibilityDate = ${quote(COMPATIBILITY_DATE)},
);
`;

function configure({ modules, bindings, objects, storage, origin, counts, cache, services }) {
  const module = (name) =>
    `(name = ${quote(name)}, ${name.endsWith(".wasm") ? "wasm" : "esModule"} = embed ${quote(`worker/${name}`)})`;
  const texts = Object.entries(bindings).map(([name, text]) => `(name = ${quote(name)}, text = ${quote(text)})`);
  const namespaces = Object.entries(objects);
  const designator = (className) =>
    counts && className === "Room" ? `(className = ${quote(className)}, serviceName = "direct")` : quote(className);
  const namespaceBindings = namespaces.map(
    ([name, className]) => `(name = ${quote(name)}, durableObjectNamespace = ${designator(className)})`,
  );
  const others = Object.entries(services);
  const serviceBindings = others.map(([name]) => `(name = ${quote(name)}, service = ${quote(name)})`);
  const external = others.map(
    ([name, address]) =>
      `(name = ${quote(name)}, external = (address = ${quote(address)}, http = (forwardedProtoHeader = "X-Forwarded-Proto"))),`,
  );
  const direct = namespaces.length > 0;
  const namespaceList = namespaces.map(
    ([, className]) => `(className = ${quote(className)}, uniqueKey = ${quote(`anteroom-${className}`)}, enableSql = true)`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "origin", external = (address = ${quote(origin)}, http = ())),
    ${direct ? '(name = "direct", worker = .direct),' : ""}
    ${cache ? '(name = "cache", worker = .cache),' : ""}
    ${external.join("\n    ")}
    (name = "disk", disk = (path = ${quote(storage)}, writable = true)),
  ],
  sockets = [
    (name = "http", service = "main", http = (forwardedProtoHeader = "X-Forwarded-Proto")),
    ${direct ? '(name = "direct", service = "direct", http = ()),' : ""}
  ],
);
const main :Workerd.Worker = (
  modules = [${modules.map(module).join(", ")}],
  compatibilityDate = ${quote(COMPATIBILITY_DATE)},
  bindings = [${[...texts, ...namespaceBindings, ...serviceBindings].join(", ")}],
  globalOutbound = "origin",
  durableObjectNamespaces = [${namespaceList.join(", ")}],
  durableObjectStorage = (localDisk = "disk"),
  ${cache ? 'cacheApiOutbound = "cache",' : ""}
);
${cache ? CACHE : ""}${direct ? DIRECT : ""}`;
}

/**
 * A Worker in its own workerd.
 *
 * Storage is on disk, in a folder of its own, and outlives `kill9` and `restart`; `stop` removes it.
 */
export class Workerd {
  #folder = mkdtempSync(join(tmpdir(), "anteroom-e2e-"));
  #process;
  #port = 0;
  #direct;
  #speaks;
  #lines = [];

  /**
   * @param {object} options
   * @param {string} options.worker A folder with index.js and what it imports, or a single module.
   * @param {string} options.origin Where `fetch` goes, as `127.0.0.1:1234`, whatever host is asked for.
   * @param {Record<string, string>} [options.bindings] Variables and secrets, over the test keys.
   *   `undefined` takes one away.
   * @param {Record<string, string>} [options.objects] Binding to class of the Durable Objects.
   * @param {string} [options.cache] The Worker that is the runtime's cache; none if there is none.
   * @param {Record<string, string>} [options.services] Service binding to where it leads, as with `origin`.
   * @param {boolean} [options.counts] Counts the calls to the objects, which slows them.
   */
  constructor({ worker, origin, bindings = {}, objects = { ROOM: "Room", RELAY: "Relay" }, counts = false, cache = undefined, services = {} }) {
    const all = { ANTEROOM_KEYS: TEST_KEYS, ANTEROOM_ORIGIN_KEYS: TEST_ORIGIN_KEYS, ...bindings };
    const present = Object.fromEntries(Object.entries(all).filter(([, text]) => text !== undefined));
    const storage = join(this.#folder, "storage");
    mkdirSync(storage);
    const copy = join(this.#folder, "worker");
    if (statSync(worker).isDirectory()) {
      cpSync(worker, copy, { recursive: true, filter: (path) => !path.includes("/.tmp") });
    } else {
      cpSync(worker, join(copy, "index.js"));
    }
    cpSync(new URL("direct.mjs", import.meta.url), join(this.#folder, "direct.mjs"));
    if (cache) cpSync(cache, join(this.#folder, "cache.mjs"));
    const modules = modulesOf(copy);
    const config = configure({ modules, bindings: present, objects, storage, origin, counts, cache, services });
    writeFileSync(join(this.#folder, "config.capnp"), config);
    this.#speaks = Object.keys(objects).length > 0;
  }

  /** Makes one and starts it. */
  static async start(options) {
    const workerd = new Workerd(options);
    try {
      await workerd.start();
    } catch (error) {
      await workerd.stop();
      throw error;
    }
    return workerd;
  }

  /** Starts the process and comes back once it accepts connections. The port stays over restarts. */
  async start() {
    if (this.#process) throw new Error("workerd is running");
    const addresses = [`--socket-addr=http=127.0.0.1:${this.#port}`];
    if (this.#speaks) addresses.push("--socket-addr=direct=127.0.0.1:0");
    const child = spawn(PROGRAM, ["serve", "--control-fd=3", ...addresses, "config.capnp"], {
      cwd: this.#folder,
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => this.#lines.push(line));
    }
    // Where it listens, workerd reports on the control descriptor.
    const listens = new Promise((resolve) => {
      const ports = new Map();
      createInterface({ input: child.stdio[3] }).on("line", (line) => {
        const message = JSON.parse(line);
        if (message.event === "listen") ports.set(message.socket, message.port);
        if (ports.size === addresses.length) resolve(ports);
      });
    });
    const ends = once(child, "exit").then(([code, signal]) => {
      throw new Error(`workerd ended (${signal ?? code}) before it listened:\n${this.log}`);
    });
    const limit = AbortSignal.timeout(READY_WITHIN_MS);
    const late = once(limit, "abort").then(() => {
      throw new Error(`workerd does not listen after ${READY_WITHIN_MS} ms:\n${this.log}`);
    });
    ends.catch(() => {});
    late.catch(() => {});
    const ports = await Promise.race([listens, ends, late]);
    this.#port = ports.get("http");
    this.#direct = ports.get("direct");
  }

  /** The port on 127.0.0.1. */
  get port() {
    return this.#port;
  }

  /** The process, while it runs. */
  get pid() {
    return this.#process?.pid;
  }

  /** Says something to a room itself: a body of room/message.rs for another. */
  async say(room, body) {
    const answer = await fetch(`http://127.0.0.1:${this.#direct}/${room}`, { method: "POST", body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`the room answers ${answer.status}: ${await answer.text()}`);
    return answer.json();
  }

  /** How often the Worker has called its rooms, where that is counted. */
  async calls() {
    return Number(await (await fetch(`http://127.0.0.1:${this.#direct}/calls`)).text());
  }

  /** What workerd and the Worker have written, over all starts. */
  get log() {
    return this.#lines.join("\n");
  }

  /** The folder of the stored objects: SQLite files. */
  get storage() {
    return join(this.#folder, "storage");
  }

  async #end(signal) {
    const child = this.#process;
    this.#process = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }

  /** Ends the process at once, in the middle of whatever it does. */
  kill9() {
    return this.#end("SIGKILL");
  }

  /** Kills and starts again, over the same storage. */
  async restart() {
    await this.kill9();
    await this.start();
  }

  /** Ends the process and removes its storage. */
  async stop() {
    await this.#end("SIGTERM");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose]() {
    await this.stop();
  }
}
