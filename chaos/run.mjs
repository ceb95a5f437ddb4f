// `make chaos`: a crowd at the Worker on this machine, and everything around the room fails. Ends with
// 1 when something was lost or doubled.
//
//   node chaos/run.mjs [--visitors N] [--span S] [--storm S] [--calm S] [--seed N] [--minutes M]

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { seeded } from '../crowd/random.mjs';
import { line, progress } from '../crowd/report.mjs';
import { Site } from '../crowd/site.mjs';
import { admissions } from '../crowd/verdicts.mjs';
import { Workerd } from '../tests/e2e/harness/workerd.mjs';
import { chaos } from './chaos.mjs';
import { Proxy } from './proxy.mjs';

const BUILT = 'target/crowd-worker';
const ROOMS = 'crowd/rooms.toml';

/** As in rooms.toml. */
const ROOM = { url: 'http://chaos.test/', active: 120, minute: 720, session: 20 };

const HABITS = { pages: 3, think: 2, 'no-show': 0.08, leave: 0.03, vanish: 0.08, connections: 150, cookie: '__cfwaitingroom', probeSeconds: 7 };

const { values } = parseArgs({
  options: {
    visitors: { type: 'string', default: '2000' },
    span: { type: 'string', default: '120' },
    storm: { type: 'string', default: '150' },
    calm: { type: 'string', default: '15' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
});
const given = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, Number(text)]));
const wrong = Object.keys(given).find((name) => !(given[name] >= 0));
if (wrong) {
  console.error(`chaos: --${wrong} must be a number`);
  process.exit(2);
}

const root = fileURLToPath(new URL('..', import.meta.url));
const env = { ...process.env, ANTEROOM_ROOMS: ROOMS };
const { status } = spawnSync('scripts/build-worker.sh', ['--out', BUILT], { cwd: root, stdio: 'inherit', env });
if (status !== 0) process.exit(1);

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => interrupted.abort());
await using stack = new AsyncDisposableStack();
const site = await Site.start({ seed: given.seed });
stack.defer(() => site.stop());
const server = await Workerd.start(site, { built: BUILT });
stack.defer(() => server.stop());
const proxy = await Proxy.start(seeded(given.seed + 3));
stack.defer(() => proxy.stop());

console.log(`${given.visitors} visitors within ${given.span} s, ${given.storm} s of failures; seed ${given.seed}`);
const shown = progress();
const { record, free, lost, probes, faults, ended } = await chaos({
  server,
  proxy,
  site,
  room: ROOM,
  options: { ...HABITS, ...given },
  tell: (what) => shown.end(`      ${what}`),
  onSecond: (now) => shown.tell(line(now, given.visitors)),
  signal: interrupted.signal,
});
shown.end(`${line(record, given.visitors)}; ${ended}`);

const seen = admissions(record);
const honoured = probes.map((found) => found.honoured);
console.log(`
${seen.total} admissions, at most ${seen.minute} within 60 s of ${ROOM.minute}
at most ${seen.active} valid passes at once of ${ROOM.active}; ${probes.length} times all passes were tried, at most ${Math.max(...honoured)} were honoured
${lost.requests} requests and ${lost.answers} answers lost on the line; ${record.counted('unavailable')} times the room was not reached
${record.counted('session over')} sessions were over before their visitor; ${seen.inversions.toFixed(1)} of 1,000 admissions came after a later number's
${free === undefined ? 'the places were not counted at the end' : `${free} of ${ROOM.active} places were free again at the end`}`);
console.log(faults.length ? `\nBROKEN, with seed ${given.seed}:\n${faults.map((fault) => `  ${fault}`).join('\n')}` : '\nNothing was lost, nothing doubled.');
process.exitCode = faults.length ? 1 : 0;
