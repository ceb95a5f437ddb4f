// The runtime: the built Worker in a raw `workerd serve`, without any proxy in front.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../../..');

/** Where `scripts/build-worker.sh` puts the Worker of these tests. */
const BUILT = 'target/e2e-worker';
const BUILDS = {
  [BUILT]: 'ANTEROOM_ROOMS=tests/e2e/rooms.toml scripts/build-worker.sh --out target/e2e-worker --features planted-panic',
  build: 'scripts/build-worker.sh',
};

/** The path of the native program: what the package starts is a script around it. */
const program = createRequire(import.meta.url)('workerd').default;

/** The secrets of the tests, as 32 bytes each. */
export const PASS_SECRET = Buffer.from('0123456789abcdef0123456789abcdef');
export const ORIGIN_SECRET = Buffer.from('fedcba9876543210fedcba9876543210');

const VARS = {
  ANTEROOM_KEYS: `e2e:${PASS_SECRET.toString('base64url')}`,
  ANTEROOM_ORIGIN_KEYS: `origin:${ORIGIN_SECRET.toString('base64url')}`,
};

export class Workerd {
  /**
   * Starts the Worker in front of an `Origin`. `vars` are added to the bindings; one that is `null`
   * is left out. With `switchable` each call to a room or relay first asks the origin whether it is up
   * (`origin.rooms`, `origin.relays`), so that a test can cut them off. `built` names another build to run.
   */
  static async start(origin, { vars = {}, switchable = false, built = BUILT } = {}) {
    if (!existsSync(join(root, built, 'index.js'))) throw new Error(`no ${built}: run ${BUILDS[built]}`);
    const workerd = new Workerd();
    workerd.folder = mkdtempSync(join(tmpdir(), 'anteroom-e2e-'));
    mkdirSync(join(workerd.folder, 'storage'));
    for (const name of ['index.js', 'index_bg.wasm']) {
      copyFileSync(join(root, built, name), join(workerd.folder, name));
    }
    copyFileSync(join(here, 'switch.mjs'), join(workerd.folder, 'switch.mjs'));
    writeFileSync(
      join(workerd.folder, 'config.capnp'),
      configuration(origin.port, { ...VARS, ...vars }, switchable),
    );
    await workerd.restart();
    return workerd;
  }

  /** Starts the program, again or for the first time. The storage is the one of before. */
  async restart() {
    this.log = [];
    this.process = spawn(program, ['serve', '--control-fd=3', 'config.capnp'], {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    this.exited = once(this.process, 'exit');
    for (const stream of [this.process.stdout, this.process.stderr]) {
      createInterface(stream).on('line', (line) => this.log.push(line));
    }
    const listening = (async () => {
      for await (const line of createInterface(this.process.stdio[3])) {
        const event = JSON.parse(line);
        if (event.event === 'listen' && event.socket === 'http') return event.port;
      }
      return undefined;
    })();
    this.port = await listening;
    if (!this.port) throw new Error(`workerd does not start:\n${this.log.join('\n')}`);
  }

  /** The end without warning. */
  async kill9() {
    this.process.kill('SIGKILL');
    await this.exited;
  }

  /** Ends the program and removes its storage. */
  async stop() {
    if (this.process.exitCode === null && this.process.signalCode === null) await this.kill9();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function configuration(origin, vars, switchable) {
  const texts = Object.entries(vars)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `(name = "${name}", text = ${JSON.stringify(value)}),`)
    .join('\n    ');
  const object = (name) => (switchable ? `(className = "${name}", serviceName = "switch")` : `"${name}"`);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "switch", worker = .switch),
    (name = "origin", external = (address = "127.0.0.1:${origin}", http = ())),
    (name = "storage", disk = (path = "storage", writable = true)),
  ],
  sockets = [
    (name = "http", address = "127.0.0.1:0", service = "main",
     http = (forwardedProtoHeader = "X-Forwarded-Proto")),
  ],
);
const main :Workerd.Worker = (
  modules = [
    (name = "index.js", esModule = embed "index.js"),
    (name = "index_bg.wasm", wasm = embed "index_bg.wasm"),
  ],
  compatibilityDate = "2026-11-01",
  globalOutbound = "origin",
  durableObjectNamespaces = [
    (className = "Room", uniqueKey = "room", enableSql = true),
    (className = "Relay", uniqueKey = "relay", enableSql = true),
  ],
  durableObjectStorage = (localDisk = "storage"),
  bindings = [
    (name = "ROOM", durableObjectNamespace = ${object('Room')}),
    (name = "RELAY", durableObjectNamespace = ${object('Relay')}),
    ${texts}
  ],
);
const switch :Workerd.Worker = (
  modules = [(name = "switch.mjs", esModule = embed "switch.mjs")],
  compatibilityDate = "2026-11-01",
  globalOutbound = "origin",
  durableObjectNamespaces = [
    (className = "Room", uniqueKey = "switch"),
    (className = "Relay", uniqueKey = "switch-relay"),
  ],
  durableObjectStorage = (inMemory = void),
  bindings = [
    (name = "ROOM", durableObjectNamespace = (className = "Room", serviceName = "main")),
    (name = "RELAY", durableObjectNamespace = (className = "Relay", serviceName = "main")),
  ],
);
`;
}
