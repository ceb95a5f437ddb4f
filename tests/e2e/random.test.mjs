// A room in random order, in a runtime: who is drawn gets in, and the others keep their places.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Visitor } from './harness/client.mjs';
import { stage } from './harness/stage.mjs';
import { until } from './harness/until.mjs';

const { server } = await stage();
const url = 'http://drawn.test/';

test('one of those who wait is drawn, and no place is told to any', async () => {
  const holder = new Visitor(server);
  assert.equal((await holder.open(url)).text, 'the site');
  const waiting = Array.from({ length: 4 }, () => new Visitor(server));
  for (const visitor of waiting) assert.equal((await visitor.queue(url)).state, 'queueing');
  const { cfWaitingRoom: room } = (await waiting[0].poll(url)).json();
  assert.equal(room.queueingMethod, 'random');
  assert.equal(room.isRandomQueue, true);
  assert.equal(room.waitTimeKnown, false, 'there was no draw yet');
  assert.deepEqual([room.positionKnown, room.usersAheadKnown, room.progressKnown], [false, false, false]);
  assert.match(room.leaveUrl, /leave$/);
  const numbers = waiting.map((visitor) => visitor.claims(url).sub);

  await holder.leave(url);
  // A draw is held once in ten seconds, and it may hit nobody.
  await until('a visitor is drawn and comes in', async () => {
    for (const visitor of waiting) await visitor.poll(url);
    return waiting.some((visitor) => visitor.claims(url).state === 'admitted');
  }, { within: 120_000, every: 2_000 });
  const states = waiting.map((visitor) => visitor.claims(url).state);
  assert.deepEqual(states.toSorted(), ['admitted', 'waiting', 'waiting', 'waiting']);
  assert.deepEqual(waiting.map((visitor) => visitor.claims(url).sub), numbers);
});
