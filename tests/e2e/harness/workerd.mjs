// The runtime: the built Worker in a raw `workerd serve`, without any proxy in front.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { parse } from 'smol-toml';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../../..');

/** Where `scripts/build-worker.sh` puts the Worker of these tests. */
const BUILT = 'target/e2e-worker';
const BUILDS = {
  [BUILT]: 'ANTEROOM_ROOMS=tests/e2e/rooms.toml scripts/build-worker.sh --out target/e2e-worker --features planted-panic',
  build: 'scripts/build-worker.sh',
  'target/crowd-worker': 'ANTEROOM_ROOMS=crowd/rooms.toml scripts/build-worker.sh --out target/crowd-worker',
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

/**
 * Starts the program in a folder with its config.capnp.
 *
 * @param {string} folder
 * @param {number} sockets So many are to listen.
 * @param {string[]} [flags]
 * @returns What runs, `exited` when it ends, `log` of what it says, and `listening`, a promise of the ports
 *   by the names of their sockets: of those that there are, should it end before.
 */
export function serve(folder, sockets, flags = []) {
  const process = spawn(program, ['serve', ...flags, '--control-fd=3', 'config.capnp'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const log = [];
  for (const stream of [process.stdout, process.stderr]) createInterface(stream).on('line', (line) => log.push(line));
  const listening = (async () => {
    const ports = {};
    for await (const line of createInterface(process.stdio[3])) {
      const event = JSON.parse(line);
      if (event.event === 'listen') ports[event.socket] = event.port;
      if (Object.keys(ports).length === sockets) break;
    }
    return ports;
  })();
  return { process, exited: once(process, 'exit'), log, listening };
}

/** The runtime of the tests, in which a request's `Test-Cf` is what Cloudflare says of it: `request.cf`, as JSON. */
export class Workerd {
  #origin;
  #options;

  /**
   * Starts the Worker in front of an `Origin`.
   *
   * @param {{port: number}} origin
   * @param {object} [options]
   * @param {Record<string, string | null>} [options.vars] Added to the bindings; `null` leaves one out.
   * @param {boolean} [options.switchable] Each call to a room or relay first asks the origin whether
   *   it is up (`origin.rooms`, `origin.relays`), so that a test can cut them off.
   * @param {import('./copies.mjs').Copies} [options.copies] What the runtime has as its cache and as the
   *   KV namespace CONFIG.
   * @param {Record<string, {port: number}>} [options.tiers] What service bindings lead to.
   * @param {boolean} [options.cron] A request to `cronPort` is a cron trigger.
   * @param {number} [options.isolates] So many Workers of the same code and the same objects, each with
   *   a port of its own (`ports`): isolates of their own, as a data centre has them.
   * @param {string} [options.built] The build to run. Its objects are those of the wrangler.toml in its
   *   folder, or else of the project's.
   * @param {string} [options.rooms] The build whose objects the rooms are, if it is another one:
   *   as it is for some minutes after a deployment.
   */
  static async start(
    origin,
    { vars = {}, switchable = false, copies = undefined, tiers = {}, cron = false, isolates = 1, built = BUILT, rooms = undefined } = {},
  ) {
    const workerd = new Workerd();
    workerd.#origin = origin;
    workerd.#options = { vars: { ...VARS, ...vars }, switchable, copies, tiers, cron, isolates };
    workerd.folder = mkdtempSync(join(tmpdir(), 'anteroom-e2e-'));
    for (const name of ['storage', 'storage-of-the-edge']) mkdirSync(join(workerd.folder, name));
    copyFileSync(join(here, 'switch.mjs'), join(workerd.folder, 'switch.mjs'));
    workerd.deploy(built, rooms);
    await workerd.restart();
    return workerd;
  }

  /** What the next start runs: another build, over the same storage. */
  deploy(built, rooms = undefined) {
    this.#install('main', built);
    if (rooms) this.#install('rooms', rooms);
    const workers = { main: objectsOf(built), ...(rooms && { rooms: objectsOf(rooms) }) };
    for (let i = 2; i <= this.#options.isolates; i++) {
      this.#install(`main${i}`, built);
      workers[`main${i}`] = workers.main;
    }
    const text = configuration(this.#origin.port, workers, this.#options);
    writeFileSync(join(this.folder, 'config.capnp'), text);
  }

  #install(name, built) {
    if (!existsSync(join(root, built, 'index.js'))) {
      throw new Error(`no ${built}: run ${BUILDS[built] ?? 'scripts/build-worker.sh'}`);
    }
    mkdirSync(join(this.folder, name), { recursive: true });
    for (const file of ['index.js', 'index_bg.wasm']) {
      copyFileSync(join(root, built, file), join(this.folder, name, file));
    }
  }

  /** Starts the program, again or for the first time. The storage is the one of before. */
  async restart() {
    // A Worker that triggers another one is not for production.
    const experimental = this.#options.cron ? ['--experimental'] : [];
    const sockets = this.#options.isolates + (this.#options.cron ? 1 : 0);
    const { listening, ...started } = serve(this.folder, sockets, experimental);
    Object.assign(this, started);
    const ports = await listening;
    this.cronPort = ports.cron;
    this.ports = Array.from({ length: this.#options.isolates }, (_, i) => ports[i === 0 ? 'http' : `http${i + 1}`]);
    this.port = this.ports[0];
    if (!this.port) throw new Error(`workerd does not start:\n${this.log.join('\n')}`);
  }

  /** How the program has ended, if it has and nobody asked it to, with the last that it said. */
  get failure() {
    const { exitCode, signalCode } = this.process;
    if (exitCode === null && signalCode === null) return undefined;
    return `workerd has ended by itself (${signalCode ?? exitCode}):\n${this.log.slice(-20).join('\n')}`;
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

/** The objects of a build, as wrangler knows them: `[{name, class_name}]`. */
function objectsOf(built) {
  const own = join(root, built, 'wrangler.toml');
  const text = readFileSync(existsSync(own) ? own : join(root, 'wrangler.toml'), 'utf8');
  return parse(text).durable_objects.bindings;
}

/** The objects that a switch can cut off. */
const SWITCHED = ['ROOM', 'RELAY', 'CONTROL'];

/** A Worker with its objects. `elsewhere` names the Worker whose classes the bindings lead to. */
function worker(name, objects, { vars, copies, tiers }, elsewhere) {
  const texts = Object.entries(vars)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `(name = "${key}", text = ${JSON.stringify(value)}),`);
  const own = name === 'main' || name === 'rooms';
  const bindings = objects.map((object) => {
    let away = elsewhere;
    if (elsewhere === 'rooms' && object.name !== 'ROOM') away = undefined;
    if (elsewhere === 'switch' && !SWITCHED.includes(object.name)) away = own ? undefined : 'main';
    const leads = away ? `(className = "${object.class_name}", serviceName = "${away}")` : `"${object.class_name}"`;
    return `(name = "${object.name}", durableObjectNamespace = ${leads}),`;
  });
  bindings.push(...Object.keys(tiers).map((tier) => `(name = "${tier}", service = "${tier}"),`));
  if (copies) bindings.push('(name = "CONFIG", kvNamespace = "copies"),');
  const namespaces = (own ? objects : []).map(
    ({ class_name }) => `(className = "${class_name}", uniqueKey = "${class_name.toLowerCase()}", enableSql = true),`,
  );
  return `
const ${name} :Workerd.Worker = (
  modules = [
    (name = "index.js", esModule = embed "${name}/index.js"),
    (name = "index_bg.wasm", wasm = embed "${name}/index_bg.wasm"),
  ],
  compatibilityDate = "2026-11-01",
  globalOutbound = "origin",
  durableObjectNamespaces = [${namespaces.join(' ')}],
  ${own ? `durableObjectStorage = (localDisk = "${name}-storage"),` : ''}
  ${copies ? 'cacheApiOutbound = "copies",' : ''}
  bindings = [
    ${[...bindings, ...texts].join('\n    ')}
  ],
);`;
}

/** Triggers a cron of the Worker, and waits for its end. */
const CRON =
  'export default { async fetch(request, env) { return Response.json(await env.MAIN.scheduled({ cron: request.url })); } };';

function configuration(origin, workers, options) {
  const { switchable, copies, tiers, cron, isolates } = options;
  const elsewhere = switchable ? 'switch' : workers.rooms ? 'rooms' : undefined;
  const names = Object.keys(workers);
  // Rooms are kept in one place, whichever Worker's they are.
  const disk = (name) => (name === 'rooms' || !workers.rooms ? 'storage' : 'storage-of-the-edge');
  const own = (name) => name === 'main' || name === 'rooms';
  const services = names.map(
    (name) => `(name = "${name}", worker = .${name}),
    ${own(name) ? `(name = "${name}-storage", disk = (path = "${disk(name)}", writable = true)),` : ''}`,
  );
  // An isolate beside the first has the objects of the first.
  const leads = (name) => (own(name) ? name === 'main' && elsewhere : (elsewhere ?? 'main'));
  const external = Object.entries(tiers).map(
    ([name, { port }]) =>
      `(name = "${name}", external = (address = "127.0.0.1:${port}", http = (forwardedProtoHeader = "X-Forwarded-Proto"))),`,
  );
  const sockets = Array.from({ length: isolates }, (_, i) => {
    const number = i === 0 ? '' : i + 1;
    return `(name = "http${number}", address = "127.0.0.1:0", service = "main${number}",
     http = (forwardedProtoHeader = "X-Forwarded-Proto", cfBlobHeader = "Test-Cf")),`;
  });
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    ${[...services, ...external].join('\n    ')}
    ${copies ? `(name = "copies", external = (address = "127.0.0.1:${copies.port}", http = ())),` : ''}
    ${switchable ? '(name = "switch", worker = .switch),' : ''}
    ${cron ? '(name = "cron", worker = .cron),' : ''}
    (name = "origin", external = (address = "127.0.0.1:${origin}", http = ())),
  ],
  sockets = [
    ${sockets.join('\n    ')}
    ${cron ? '(name = "cron", address = "127.0.0.1:0", service = "cron", http = ()),' : ''}
  ],
);
${names.map((name) => worker(name, workers[name], options, leads(name))).join('\n')}
const cron :Workerd.Worker = (
  modules = [(name = "cron.mjs", esModule = "${CRON}")],
  compatibilityDate = "2026-11-01",
  compatibilityFlags = ["experimental", "service_binding_extra_handlers"],
  bindings = [(name = "MAIN", service = "main")],
);
const switch :Workerd.Worker = (
  modules = [(name = "switch.mjs", esModule = embed "switch.mjs")],
  compatibilityDate = "2026-11-01",
  globalOutbound = "origin",
  durableObjectNamespaces = [
    (className = "Room", uniqueKey = "switch"),
    (className = "Relay", uniqueKey = "switch-relay"),
    (className = "Control", uniqueKey = "switch-control"),
  ],
  durableObjectStorage = (inMemory = void),
  bindings = [
    (name = "ROOM", durableObjectNamespace = (className = "Room", serviceName = "main")),
    (name = "RELAY", durableObjectNamespace = (className = "Relay", serviceName = "main")),
    (name = "CONTROL", durableObjectNamespace = (className = "Control", serviceName = "main")),
  ],
);
`;
}
