// A busy room is reached through relays; whatever becomes of a relay, every visitor gets an answer.
//
// The rooms are full, so that each newcomer asks for a number: who is let in may need no call.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Visitor } from './harness/client.mjs';
import { stage } from './harness/stage.mjs';
import { until } from './harness/until.mjs';

const { origin, server } = await stage({ switchable: true });

/** Fills the one place, and lets newcomers come until calls go through a relay. */
async function makeBusy(url) {
  await new Visitor(server).open(url);
  await throughRelay(url);
}

/** Newcomers until a call goes through a relay. */
async function throughRelay(url) {
  await until('calls go through a relay', async () => {
    const before = origin.calls.relays;
    await queue(url, 5);
    return origin.calls.relays > before;
  });
}

/** As many newcomers at once, each of whom must get a number of their own. */
async function queue(url, count) {
  const visitors = Array.from({ length: count }, () => new Visitor(server));
  await Promise.all(visitors.map((visitor) => visitor.queue(url)));
  const held = visitors.map((visitor) => visitor.claims(url));
  assert.deepEqual([...new Set(held.map(({ state }) => state))], ['waiting']);
  const numbers = held.map(({ sub }) => Number(sub));
  assert.equal(new Set(numbers).size, count, 'no number twice');
  return { visitors, numbers };
}

test('a busy room is called through a relay, which gathers', async () => {
  const url = 'http://relayed.test/';
  await new Visitor(server).open(url);
  assert.equal(origin.calls.relays, 0, 'a quiet room is called directly');
  await throughRelay(url);
  const { rooms, relays } = origin.calls;
  await queue(url, 40);
  const calls = { rooms: origin.calls.rooms - rooms, relays: origin.calls.relays - relays };
  // The edge makes one call after the other for all who come at once.
  assert.ok(calls.relays >= 1 && calls.relays < 40, `${calls.relays} calls of relays for 40 newcomers`);
  assert.ok(calls.rooms <= 20, `${calls.rooms} calls of the room for 40 newcomers`);
});

test('a relay that throws costs nobody anything: the room itself is asked', async () => {
  const url = 'http://relay-throws.test/';
  await makeBusy(url);
  origin.relays = 'throws';
  const { visitors, numbers } = await queue(url, 20);
  origin.restoreRooms();
  for (const visitor of visitors) await visitor.open(url);
  assert.deepEqual(visitors.map((visitor) => Number(visitor.claims(url).sub)), numbers);
});

test('what a relay has and does not pass on is sent again, and when it comes after all changes nothing', async () => {
  const url = 'http://relay-hangs.test/';
  await makeBusy(url);
  origin.relays = 'hangs';
  const { visitors, numbers } = await queue(url, 20);
  origin.restoreRooms();
  await throughRelay(url);
  const later = await queue(url, 10);
  // Each visitor has taken one number, in however many messages: those of one round follow closely.
  const last = Math.max(...numbers);
  assert.equal(last - Math.min(...numbers), 19, 'no number for nobody');
  assert.ok(later.numbers.every((number) => number > last));
  for (const visitor of visitors) await visitor.open(url);
  assert.deepEqual(visitors.map((visitor) => Number(visitor.claims(url).sub)), numbers);
});
