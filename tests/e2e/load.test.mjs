// The load test that an operator runs (`make crowd`), small: four times yes, by what is seen from outside.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { crowd } from '../../crowd/crowd.mjs';
import { Site } from '../../crowd/site.mjs';
import { told } from '../../crowd/report.mjs';
import { verdicts } from '../../crowd/verdicts.mjs';
import { Workerd } from './harness/workerd.mjs';

const SEED = 20_261_130;
const LIMITS = { active: 40, minute: 1_200 };

test('three hundred visitors are treated as intended, and all who wait get in', async () => {
  const site = await Site.start({ seed: SEED });
  after(() => site.stop());
  const server = await Workerd.start(site);
  after(() => server.stop());
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
