// `make crowd`: ten thousand visitors at the Worker on this machine. `make load URL=...`: some at a
// target that the operator names. Ends with 1 when a verdict is no.

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Workerd } from '../tests/e2e/harness/workerd.mjs';
import { crowd } from './crowd.mjs';
import { Misuse, help, read } from './options.mjs';
import { page, plot, sliding } from './plot.mjs';
import { latencies, line, progress, reservation, table, told } from './report.mjs';
import { Site } from './site.mjs';
import { verdicts } from './verdicts.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUILT = 'target/crowd-worker';
const ROOMS = 'crowd/rooms.toml';

/** The room of this machine, as in rooms.toml. */
const LOCAL = { url: 'http://crowd.test/', active: 1_000, minute: 3_000 };

function build() {
  const { status } = spawnSync('scripts/build-worker.sh', ['--out', BUILT], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ANTEROOM_ROOMS: ROOMS },
  });
  if (status !== 0) throw new Error('the Worker does not build');
}

/** The URL under another host: the one that requests name and cookies go by. */
function named(url, host) {
  const other = new URL(url);
  if (host) Object.assign(other, { port: '', host });
  return other.href;
}

function plots(record, site, limits) {
  const seconds = Math.max(1, Math.ceil(record.age / 1000));
  const limit = (name, value) => (value === undefined ? [] : [{ name, value }]);
  const lines = (names) => names.map(([name, label]) => ({ name: label ?? name, values: record.series(name) }));
  const atSite = site?.requests ?? record.series('site');
  return [
    plot({ title: 'Visitors', unit: 'people', seconds, lines: lines([['waiting'], ['inside']]), limits: limit('total_active_users', limits.active) }),
    plot({
      title: 'Admissions',
      unit: 'in the last 60 seconds',
      seconds,
      lines: [{ name: 'admitted', values: sliding(record.series('admitted'), seconds, 60) }],
      limits: limit('new_users_per_minute', limits.minute),
    }),
    plot({ title: 'Requests', unit: 'per second', seconds, lines: [...lines([['requests', 'all']]), { name: 'at the site', values: atSite }] }),
    plot({ title: 'Faults', unit: 'per second', seconds, lines: lines([['lost', 'no answer'], ['failed', 'errors'], ['unavailable', 'room not reached']]) }),
  ];
}

async function main() {
  const options = read(process.argv.slice(2));
  await using stack = new AsyncDisposableStack();
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => interrupted.abort());

  let target = { url: options.url && named(options.url, options.host), connectTo: options.url };
  let limits = { active: options['active-limit'], minute: options['minute-limit'] };
  let site, server;
  if (!options.url) {
    build();
    site = await Site.start({ seed: options.seed });
    stack.defer(() => site.stop());
    server = await Workerd.start(site, { built: BUILT });
    stack.defer(() => server.stop());
    target = { url: LOCAL.url, connectTo: `http://127.0.0.1:${server.port}` };
    limits = LOCAL;
  }
  const where = options.url ?? 'the Worker on this machine';
  console.log(
    `${options.visitors.toLocaleString('en')} visitors within ${options.span} s at ${where}, over ${options.connections} connections, ` +
      `for ${options.minutes} minutes at the most; seed ${options.seed}`,
  );

  const progressed = progress();
  const begin = Date.now();
  const run = { ...target, options, signal: interrupted.signal };
  const { record, ended } = await crowd({ ...run, onSecond: (now) => progressed.tell(line(now, options.visitors)) });
  progressed.end(`${line(record, options.visitors)}; ${ended}`);
  if (server?.failure) console.log(server.failure);

  const counts = await site?.counts(begin);
  const judged = verdicts({ record, limits, site: counts });
  const rows = latencies(record);
  const notes = [reservation(record), ...record.told].filter((note) => note !== undefined);
  console.log(`\n${told(judged)}\n\n${table(rows)}`);
  if (reservation(record)) console.log(`\n${reservation(record)}`);
  if (record.told.length) console.log(`\nThe first faults:\n${record.told.map((fault) => `  ${fault}`).join('\n')}`);

  const out = resolve(ROOT, options.out);
  mkdirSync(dirname(out), { recursive: true });
  const about = `${options.visitors.toLocaleString('en')} visitors within ${options.span} s at ${where}; ${ended}; seed ${options.seed}`;
  writeFileSync(out, page({ title: 'A crowd at the waiting room', about, verdicts: judged, plots: plots(record, counts, limits), table: rows, notes }));
  console.log(`\nPlots: ${out.startsWith(ROOT) ? out.slice(ROOT.length) : out}`);
  return judged.every(({ holds }) => holds !== false) && ended === 'all are done' ? 0 : 1;
}

try {
  if (process.argv.includes('--help')) console.log(help());
  else process.exitCode = await main();
} catch (error) {
  if (!(error instanceof Misuse)) throw error;
  console.error(`crowd: ${error.message}\n\n${help()}`);
  process.exitCode = 2;
}
