// The load test that an operator runs (`make crowd`), small: four times yes, by what is seen from outside.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';

import { crowd } from '../../crowd/crowd.mjs';
import { Site } from '../../crowd/site.mjs';
import { told } from '../../crowd/report.mjs';
import { verdicts } from '../../crowd/verdicts.mjs';
import { Workerd } from './harness/workerd.mjs';

const SEED = 20_261_130;
const LIMITS = { active: 40, minute: 1_200 };

const site = await Site.start({ seed: SEED });
const server = await Workerd.start(site);
after(async () => {
  await server.stop();
  await site.stop();
});

test('three hundred visitors are treated as intended, and all who wait get in', async () => {
  const begin = Date.now();
  const { record, ended } = await crowd({
    url: 'http://load.test/',
    connectTo: `http://127.0.0.1:${server.port}`,
    options: {
      visitors: 300, span: 4, pages: 2, think: 0.8, 'no-show': 0.1, leave: 0.05, vanish: 0.05,
      minutes: 2, connections: 60, seed: SEED, cookie: '__cfwaitingroom',
    },
  });
  const counts = await site.counts(begin);
  const judged = verdicts({ record, limits: LIMITS, site: counts });
  const report = `${told(judged)}\n${record.told.join('\n')}`;
  assert.equal(ended, 'all are done', report);
  assert.deepEqual(record.faults, {}, report);
  // How fast and how smooth a loaded machine is decides no test.
  const [treated, , completed] = judged;
  assert.equal(treated.holds, true, report);
  assert.equal(completed.holds, true, report);
  const done = ['left', 'vanished', 'closes', 'leaves'].reduce((sum, end) => sum + record.counted(`end: ${end}`), 0);
  assert.equal(done, 300, report);
  assert.ok(record.counted('entered after waiting') > 100, report);
  assert.ok(record.counted('end: closes') > 0 && record.counted('end: leaves') > 0, report);
});

test('make load answers the four questions for a target, and draws them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'anteroom-load-'));
  after(() => rmSync(folder, { recursive: true }));
  const page = join(folder, 'load.html');
  const options = {
    url: `http://127.0.0.1:${server.port}/`, host: 'one-12.test', visitors: 6, span: 1, pages: 1, think: 0.2,
    'no-show': 0, leave: 0, vanish: 0, 'active-limit': 1, minutes: 2, seed: SEED, out: page,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const program = spawn(process.execPath, ['crowd/run.mjs', ...args], { cwd: new URL('../..', import.meta.url), stdio: ['ignore', 'pipe', 'inherit'] });
  const said = await text(program.stdout);
  assert.match(said, /1\. Is everybody treated as intended\? yes/, said);
  assert.match(said, /at most 1 valid passes at once of 1/);
  assert.match(said, /2\. Is the site's load smooth/);
  assert.match(said, /3\. Does everybody who waits get in\? yes/);
  assert.match(said, /4\. Does the store keep up/);
  assert.match(said, /the room: claim/);
  assert.match(readFileSync(page, 'utf8'), /<svg[^]*Admissions[^]*<\/html>/);
});
