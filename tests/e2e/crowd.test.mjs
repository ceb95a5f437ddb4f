// Five hundred visitors at once before fifty places.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Visitor } from './harness/client.mjs';
import { stage } from './harness/stage.mjs';
import { until } from './harness/until.mjs';

const { origin, server } = await stage();

test('there are never more than fifty passes, and everybody gets in once, in order enough', async () => {
  const url = 'http://crowd.test/';
  const PLACES = 50;
  const held = new Set();
  let most = 0;
  let entered = 0;

  /** A visit: in line until the turn comes, a look at the site, out again. */
  async function visit(visitor) {
    for (;;) {
      const response = await visitor.open(url);
      if (response.state === undefined) break;
      // A second is how precise a token is about time; sooner is too early to count.
      await until('it is time to ask again', () => {
        const { iat, state } = visitor.claims(url);
        return state === 'ticket' || Date.now() >= (iat + 1) * 1000;
      }, { every: 50 });
    }
    held.add(visitor);
    entered += 1;
    most = Math.max(most, held.size);
    assert.ok(held.size <= PLACES, `${held.size} inside`);
    assert.equal((await visitor.open(`${url}inside`)).text, 'the site');
    // The room frees the slot before it answers, so the pass counts as given back from here on.
    held.delete(visitor);
    await visitor.leave(url);
  }

  const visitors = Array.from({ length: 500 }, () => new Visitor(server));
  await Promise.all(visitors.map(visit));
  assert.equal(entered, 500);
  assert.ok(most > 10, `the places were used: ${most} at a time`);
  assert.equal(origin.seen('/inside').length, 500);
});

test('no more enter in a minute than the rate allows, whatever the crowd does', async () => {
  const url = 'http://paced.test/';
  const visitors = Array.from({ length: 200 }, () => new Visitor(server));
  await Promise.all(visitors.map((visitor) => visitor.open(url)));
  await Promise.all(visitors.map((visitor) => visitor.open(url)));
  await Promise.all(visitors.map((visitor) => visitor.poll(url)));
  const inside = visitors.filter((visitor) => visitor.claims(url).state === 'admitted');
  assert.equal(inside.length, 20);
  // Places that are given back do not make room for more than the rate.
  await Promise.all(inside.map((visitor) => visitor.leave(url)));
  await Promise.all(visitors.filter((visitor) => !inside.includes(visitor)).map((visitor) => visitor.poll(url)));
  const now = visitors.filter((visitor) => visitor.claims(url)?.state === 'admitted');
  assert.equal(now.length, 0);
});
