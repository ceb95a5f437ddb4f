// A busy room is reached through relays; whatever becomes of a relay, every visitor gets an answer.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Visitor } from './harness/client.mjs';
import { stage } from './harness/stage.mjs';
import { until } from './harness/until.mjs';

const { origin, server } = await stage({ switchable: true });

/** Newcomers until calls go through a relay. */
async function makeBusy(url) {
  await until('calls go through a relay', async () => {
    const before = origin.calls.relays;
    await Promise.all(Array.from({ length: 5 }, () => new Visitor(server).open(url)));
    return origin.calls.relays > before;
  });
}

/** As many newcomers at once, all of whom must be let in, each with a number of their own. */
async function enter(url, count) {
  const visitors = Array.from({ length: count }, () => new Visitor(server));
  const answers = await Promise.all(visitors.map((visitor) => visitor.open(url)));
  assert.deepEqual([...new Set(answers.map((answer) => answer.text))], ['the site']);
  const numbers = visitors.map((visitor) => visitor.claims(url).sub);
  assert.equal(new Set(numbers).size, count, 'no number twice');
  return { visitors, numbers };
}

test('a busy room is called through a relay, which gathers', async () => {
  const url = 'http://relayed.test/';
  await new Visitor(server).open(url);
  assert.equal(origin.calls.relays, 0, 'a quiet room is called directly');
  await makeBusy(url);
  const { rooms, relays } = origin.calls;
  await enter(url, 40);
  const calls = { rooms: origin.calls.rooms - rooms, relays: origin.calls.relays - relays };
  assert.ok(calls.relays >= 40, `${calls.relays} calls of relays for 40 newcomers`);
  assert.ok(calls.rooms <= 20, `${calls.rooms} calls of the room for 40 newcomers`);
});

test('a relay that throws costs nobody anything: the room itself is asked', async () => {
  const url = 'http://relay-throws.test/';
  await makeBusy(url);
  origin.relays = 'throws';
  const { visitors } = await enter(url, 20);
  origin.restoreRooms();
  for (const visitor of visitors) assert.equal((await visitor.open(url)).text, 'the site');
});

test('what a relay has and does not pass on is sent again, and when it comes after all changes nothing', async () => {
  const url = 'http://relay-hangs.test/';
  await makeBusy(url);
  origin.relays = 'hangs';
  const { visitors, numbers } = await enter(url, 20);
  origin.restoreRooms();
  await until('a relay is asked again', async () => {
    const before = origin.calls.relays;
    await Promise.all(Array.from({ length: 5 }, () => new Visitor(server).open(url)));
    return origin.calls.relays > before;
  });
  // The numbers given since follow one another: those who were let in took one each.
  const last = Math.max(...numbers.map(Number));
  const later = await enter(url, 10);
  assert.ok(later.numbers.every((number) => Number(number) > last));
  for (const visitor of visitors) assert.equal((await visitor.open(url)).text, 'the site');
});
