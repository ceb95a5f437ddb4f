// `make cache-tests`: the public suite of tests for HTTP caches against the built Worker, in workerd, in
// front of the suite's own origin. What comes out is compared with docs/cache.md, where every required test
// that fails has its reason, and printed beside what the suite publishes of others.
//
//   node scripts/cache-tests.mjs SUITE [--id TEST] [--write]
//
// SUITE is the folder that scripts/setup.sh --cache-tests has made. --id runs one test and shows what was
// sent; --write puts the table into docs/cache.md.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { Copies } from '../tests/e2e/harness/copies.mjs';
import { until } from '../tests/e2e/harness/until.mjs';
import { Workerd } from '../tests/e2e/harness/workerd.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const PAGE = join(root, 'docs/cache.md');
const KINDS = ['required', 'optimal', 'check'];
/** The goal: more than any other that the suite publishes. */
const OTHERS = { nginx: 'nginx', varnish: 'Varnish', squid: 'Squid', apache: 'httpd', trafficserver: 'Traffic Server', fastly: 'Fastly' };

const { values: options, positionals } = parseArgs({
  options: { id: { type: 'string' }, write: { type: 'boolean' } },
  allowPositionals: true,
});
const suite = join(positionals[0], 'node_modules/http-cache-tests');

/** A port that nobody listens on. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** A script of the suite; it is told everything as npm would tell it. */
function run(script, settings, stdio) {
  const env = { ...process.env, npm_package_config_id: '' };
  for (const [name, value] of Object.entries(settings)) env[`npm_config_${name}`] = value;
  return spawn(process.execPath, ['--no-warnings', script], { cwd: suite, env, stdio });
}

async function results() {
  const folder = mkdtempSync(join(tmpdir(), 'anteroom-cache-tests-'));
  const port = await freePort();
  const settings = { protocol: 'http', port: String(port), pidfile: join(folder, 'pid') };
  const origin = run('server/server.mjs', settings, ['ignore', 'ignore', 'inherit']);
  const copies = await Copies.start();
  let server;
  try {
    await until('the suite\'s server listens', () => fetch(`http://127.0.0.1:${port}/`).then(() => true, () => false));
    server = await Workerd.start({ port }, { copies });
    const cli = run('cli.mjs', { base: `http://127.0.0.1:${server.port}`, id: options.id ?? '' }, ['ignore', 'pipe', 'inherit']);
    const chunks = [];
    for await (const chunk of cli.stdout) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  } finally {
    await server?.stop();
    copies.stop();
    origin.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The kinds of all tests, by id. */
async function kinds() {
  const load = async (file) => (await import(pathToFileURL(join(suite, 'tests', file)))).default;
  const suites = [...(await load('index.mjs')), await load('surrogate-control.mjs')];
  const tests = suites.flatMap(({ tests }) => tests);
  return new Map(tests.map(({ id, kind = 'required' }) => [id, kind]));
}

/** How many of each kind have passed, and how many there are. */
function tally(results, kindOf) {
  const row = Object.fromEntries(KINDS.map((kind) => [kind, [0, 0]]));
  for (const [id, result] of Object.entries(results)) {
    const count = row[kindOf.get(id)];
    if (!count) continue;
    count[0] += result === true;
    count[1] += 1;
  }
  const all = Object.values(row);
  return { ...row, all: [all.reduce((sum, [passed]) => sum + passed, 0), all.reduce((sum, [, of]) => sum + of, 0)] };
}

const line = (cells) => `| ${cells.join(' | ')} |`;
const share = ([passed, of]) => `${passed} of ${of}`;

function table(ours, kindOf) {
  const published = Object.keys(OTHERS).map((name) => {
    const results = JSON.parse(readFileSync(join(suite, 'results', `${name}.json`), 'utf8'));
    return [OTHERS[name], tally(results, kindOf), new Set(Object.keys(results))];
  });
  // Of the same tests as the others.
  const common = published[0][2];
  const same = Object.fromEntries(Object.entries(ours).filter(([id]) => common.has(id)));
  const rows = [['anteroom', tally(ours, kindOf)], ['anteroom, of the published tests', tally(same, kindOf)], ...published];
  const lines = rows.map(([name, row]) => line([name, share(row.all), ...KINDS.map((kind) => share(row[kind]))]));
  return [line(['', 'all', ...KINDS]), line(['---', '---', '---', '---', '---']), ...lines].join('\n');
}

/** The required tests that the page says fail. */
function explained(page) {
  const part = page.split('### Required tests that fail')[1]?.split('\n#')[0] ?? '';
  return [...part.matchAll(/^\| `([^`]+)`/gm)].map(([, id]) => id).sort();
}

const text = await results();
if (options.id) {
  console.log(text);
  process.exit();
}
const ours = JSON.parse(text);
const kindOf = await kinds();
const printed = table(ours, kindOf);
console.log(printed);
const failed = Object.keys(ours).filter((id) => ours[id] !== true);
for (const kind of KINDS) {
  console.log(`\n${kind}, not passed:`);
  for (const id of failed.filter((id) => kindOf.get(id) === kind)) console.log(`  ${id}: ${ours[id].join(': ')}`);
}
let page = readFileSync(PAGE, 'utf8');
if (options.write) {
  page = page.replace(/(<!-- results -->\n)[^]*?(\n<!-- end -->)/, (_, begin, end) => begin + printed + end);
  writeFileSync(PAGE, page);
}
const required = failed.filter((id) => kindOf.get(id) === 'required').sort();
const expected = explained(page);
const surprising = required.filter((id) => !expected.includes(id));
const better = expected.filter((id) => !required.includes(id));
for (const id of surprising) console.error(`fails, and docs/cache.md has no reason: ${id}`);
for (const id of better) console.error(`passes, and docs/cache.md says that it fails: ${id}`);
process.exit(surprising.length + better.length > 0 ? 1 : 0);
