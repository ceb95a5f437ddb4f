// A crowd while everything around the room fails (`make chaos`), small: nothing is lost, nothing doubled.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { chaos } from '../../chaos/chaos.mjs';
import { Proxy } from '../../chaos/proxy.mjs';
import { seeded } from '../../crowd/random.mjs';
import { Site } from '../../crowd/site.mjs';
import { Workerd } from './harness/workerd.mjs';

/** Says what is drawn; `SEED=1 node --test ...` repeats a storm. */
const SEED = Number(process.env.SEED ?? 20_261_130);

const ROOM = { url: 'http://chaos.test/', active: 25, minute: 480, session: 8 };

test(`kills, lost answers and a failing site break no promise (seed ${SEED})`, async (t) => {
  const site = await Site.start({ seed: SEED });
  after(() => site.stop());
  const server = await Workerd.start(site);
  after(() => server.stop());
  const proxy = await Proxy.start(seeded(SEED + 3));
  after(() => proxy.stop());
  const storms = [];
  const { record, faults, lost, probes } = await chaos({
    server,
    proxy,
    site,
    room: ROOM,
    options: {
      visitors: 130, span: 6, pages: 2, think: 0.8, 'no-show': 0, leave: 0.08, vanish: 0.05,
      minutes: 3, connections: 60, seed: SEED, cookie: '__cfwaitingroom', calm: 4, storm: 12, probeSeconds: 3,
    },
    tell: (what) => storms.push(what),
  });
  t.diagnostic(storms.join('; '));
  t.diagnostic(`passes honoured at each look: ${probes.map(({ honoured }) => honoured).join(', ')}`);
  assert.deepEqual(faults, [], storms.join('\n'));
  // It was a storm, and a crowd.
  assert.ok(storms.some((what) => what.startsWith('kill')), storms.join('\n'));
  assert.ok(lost.answers > 0);
  assert.ok(record.counted('entered after waiting') > 40);
  // How many are valid at one look depends on when it falls; that passes were looked at does not.
  assert.ok(probes.reduce((sum, { honoured }) => sum + honoured, 0) > 10);
});
