// first_pass = "auto": while many first passes are never seen again, a first pass is provisional.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NAVIGATE, Visitor, ask } from '../e2e/harness/client.mjs';
import { stage } from '../e2e/harness/stage.mjs';
import { until } from '../e2e/harness/until.mjs';

const { server } = await stage();

test('clients that keep no cookies make first passes provisional, and a visitor’s becomes whole on return', async () => {
  const url = 'http://walk.test/';
  const early = new Visitor(server);
  await early.open(url);
  assert.equal(early.claims(url).state, 'admitted');
  await Promise.all(Array.from({ length: 80 }, () => ask(server.port, { host: 'walk.test', headers: NAVIGATE })));
  const visitor = await until(
    'a first pass is provisional',
    async () => {
      const candidate = new Visitor(server);
      await candidate.open(url);
      return candidate.claims(url).state === 'provisional' && candidate;
    },
    // A pass that was not seen again is judged when it is twenty seconds old.
    { within: 60_000, every: 1_000 },
  );
  const first = visitor.claims(url);
  assert.ok(first.exp - first.iat <= 60);
  await until('the pass is whole', async () => {
    assert.equal((await visitor.open(url)).text, 'the site');
    return visitor.claims(url).state === 'admitted';
  });
  assert.equal(visitor.claims(url).sub, first.sub);
  assert.ok(visitor.claims(url).exp > first.exp);
});
