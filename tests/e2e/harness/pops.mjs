// Data centres on this machine: each is a runtime of its own with a cache of its own, so that one can be
// stopped, held up, or ended without the others.

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Copies } from './copies.mjs';
import { PASS_SECRET, serve } from './workerd.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const OBJECTS = ['Room', 'Relay', 'Control', 'Atlas', 'Tier', 'Lease', 'Tally'];

/** The secret of markers in the tests, as 32 bytes. */
export const TIER_SECRET = Buffer.from('00112233445566778899aabbccddeeff');

export class Pop {
  /**
   * Starts one.
   *
   * @param {object} options
   * @param {number} options.origin The port of what lies behind: of the origin.
   * @param {string} [options.tier] The upper tier that it is.
   * @param {Record<string, Pop>} [options.tiers] What its service bindings lead to.
   * @param {Record<string, string | null>} [options.vars]
   * @param {string} [options.built]
   */
  static async start({ origin, tier, tiers = {}, vars = {}, built = 'target/e2e-worker' }) {
    const pop = new Pop();
    if (!existsSync(join(root, built, 'index.js'))) throw new Error(`no ${built}: run scripts/test.sh, or build it as that does`);
    pop.folder = mkdtempSync(join(tmpdir(), 'anteroom-pop-'));
    pop.copies = await Copies.start();
    for (const name of ['main', 'storage']) mkdirSync(join(pop.folder, name));
    for (const file of ['index.js', 'index_bg.wasm']) copyFileSync(join(root, built, file), join(pop.folder, 'main', file));
    pop.vars = {
      ANTEROOM_KEYS: `e2e:${PASS_SECRET.toString('base64url')}`,
      ANTEROOM_TIER_KEYS: `t:${TIER_SECRET.toString('base64url')}`,
      ...(tier && { ANTEROOM_TIER: tier }),
      ...vars,
    };
    pop.origin = origin;
    pop.tiers = tiers;
    pop.port = 0;
    await pop.restart();
    return pop;
  }

  /** Starts the program, for the first time or again, on the same port. The cache is the one of before. */
  async restart() {
    writeFileSync(join(this.folder, 'config.capnp'), this.#configuration());
    const { listening, ...started } = serve(this.folder, 1);
    Object.assign(this, started);
    this.port = (await listening).http;
    if (!this.port) throw new Error(`workerd does not start:\n${this.log.join('\n')}`);
  }

  /** The end without warning. */
  async kill() {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill('SIGKILL');
    await this.exited;
  }

  /** From now on it takes requests and answers none. */
  freeze() {
    this.process.kill('SIGSTOP');
  }

  /** It goes on. */
  thaw() {
    this.process.kill('SIGCONT');
  }

  async stop() {
    await this.kill();
    this.copies.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #configuration() {
    const texts = Object.entries(this.vars).filter(([, value]) => value !== null);
    const bindings = [
      ...texts.map(([key, value]) => `(name = "${key}", text = ${JSON.stringify(value)}),`),
      ...OBJECTS.map((name) => `(name = "${name.toUpperCase()}", durableObjectNamespace = "${name}"),`),
      ...Object.keys(this.tiers).map((name) => `(name = "${name}", service = "${name}"),`),
      '(name = "CONFIG", kvNamespace = "copies"),',
    ];
    const http = '(forwardedProtoHeader = "X-Forwarded-Proto", cfBlobHeader = "Test-Cf")';
    const services = Object.entries(this.tiers).map(
      ([name, pop]) => `(name = "${name}", external = (address = "127.0.0.1:${pop.port}", http = ${http})),`,
    );
    const namespaces = OBJECTS.map((name) => `(className = "${name}", uniqueKey = "${name.toLowerCase()}", enableSql = true),`);
    return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "storage", disk = (path = "storage", writable = true)),
    (name = "copies", external = (address = "127.0.0.1:${this.copies.port}", http = ())),
    (name = "origin", external = (address = "127.0.0.1:${this.origin}", http = (forwardedProtoHeader = "X-Forwarded-Proto"))),
    ${services.join('\n    ')}
  ],
  sockets = [(name = "http", address = "127.0.0.1:${this.port}", service = "main", http = ${http})],
);
const main :Workerd.Worker = (
  modules = [
    (name = "index.js", esModule = embed "main/index.js"),
    (name = "index_bg.wasm", wasm = embed "main/index_bg.wasm"),
  ],
  compatibilityDate = "2026-11-01",
  globalOutbound = "origin",
  cacheApiOutbound = "copies",
  durableObjectNamespaces = [${namespaces.join(' ')}],
  durableObjectStorage = (localDisk = "storage"),
  bindings = [
    ${bindings.join('\n    ')}
  ],
);
`;
  }
}
