// Runs a built Worker in workerd, the runtime of Cloudflare Workers, with nothing in between: one
// process, one socket, one Durable Object namespace, and an origin to which every `fetch` goes.
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

function configure({ modules, bindings, objects, storage, origin, cfHeader }) {
  const module = (name) =>
    `(name = ${quote(name)}, ${name.endsWith(".wasm") ? "wasm" : "esModule"} = embed ${quote(`worker/${name}`)})`;
  const texts = Object.entries(bindings).map(([name, text]) => `(name = ${quote(name)}, text = ${quote(text)})`);
  const namespaces = Object.entries(objects);
  const namespaceBindings = namespaces.map(
    ([name, className]) => `(name = ${quote(name)}, durableObjectNamespace = ${quote(className)})`,
  );
  const namespaceList = namespaces.map(
    ([, className]) => `(className = ${quote(className)}, uniqueKey = ${quote(`anteroom-${className}`)}, enableSql = true)`,
  );
  const cf = cfHeader ? `, cfBlobHeader = ${quote(cfHeader)}` : "";
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "origin", external = (address = ${quote(origin)}, http = ())),
    (name = "disk", disk = (path = ${quote(storage)}, writable = true)),
  ],
  sockets = [(name = "http", service = "main", http = (forwardedProtoHeader = "X-Forwarded-Proto"${cf}))],
);
const main :Workerd.Worker = (
  modules = [${modules.map(module).join(", ")}],
  compatibilityDate = ${quote(COMPATIBILITY_DATE)},
  bindings = [${[...texts, ...namespaceBindings].join(", ")}],
  globalOutbound = "origin",
  durableObjectNamespaces = [${namespaceList.join(", ")}],
  durableObjectStorage = (localDisk = "disk"),
);
`;
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
  #lines = [];

  /**
   * @param {object} options
   * @param {string} options.worker A folder with index.js and what it imports, or a single module.
   * @param {string} options.origin Where `fetch` goes, as `127.0.0.1:1234`, whatever host is asked for.
   * @param {Record<string, string>} [options.bindings] Variables and secrets, over the test keys.
   *   `undefined` takes one away.
   * @param {Record<string, string>} [options.objects] Binding to class of the Durable Objects.
   * @param {string} [options.cfHeader] A request header that is taken as `request.cf`, in JSON.
   */
  constructor({ worker, origin, bindings = {}, objects = { ROOM: "Room" }, cfHeader }) {
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
    const modules = modulesOf(copy);
    const config = configure({ modules, bindings: present, objects, storage, origin, cfHeader });
    writeFileSync(join(this.#folder, "config.capnp"), config);
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
    const address = `http=127.0.0.1:${this.#port}`;
    const child = spawn(PROGRAM, ["serve", "--control-fd=3", `--socket-addr=${address}`, "config.capnp"], {
      cwd: this.#folder,
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => this.#lines.push(line));
    }
    // Where it listens, workerd reports on the control descriptor.
    const listens = new Promise((resolve) => {
      createInterface({ input: child.stdio[3] }).on("line", (line) => {
        const message = JSON.parse(line);
        if (message.event === "listen" && message.socket === "http") resolve(message.port);
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
    this.#port = await Promise.race([listens, ends, late]);
  }

  /** The port on 127.0.0.1. */
  get port() {
    return this.#port;
  }

  /** The process, while it runs. */
  get pid() {
    return this.#process?.pid;
  }

  /** The address by number; requests may name any host. */
  get url() {
    return `http://127.0.0.1:${this.#port}`;
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
