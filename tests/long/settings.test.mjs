// An operator changes a room's settings while people are in it: another build over the same storage.
// `make test-all` builds what this needs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Visitor } from '../e2e/harness/client.mjs';
import { Origin } from '../e2e/harness/origin.mjs';
import { until } from '../e2e/harness/until.mjs';
import { Workerd } from '../e2e/harness/workerd.mjs';

const AS_EVER = 'target/e2e-worker';
const CHANGED = 'target/changed-worker';

let origin, server;
before(async () => {
  origin = await Origin.start();
  server = await Workerd.start(origin, { built: AS_EVER });
});
after(async () => {
  await server.stop();
  origin.stop();
});

async function deploy(built) {
  await server.kill9();
  server.deploy(built);
  await server.restart();
}

const isIn = async (visitor, url) => (await visitor.open(url)).state === undefined;
const admitted = (visitor, url) => async () => (await visitor.poll(url)).state === 'admitted';

test('a lower limit throws nobody out, and lets nobody in until the room fits', async () => {
  const url = 'http://crash.test/';
  await deploy(AS_EVER);
  const inside = Array.from({ length: 20 }, () => new Visitor(server));
  for (const visitor of inside) await visitor.open(url);
  const waiting = new Visitor(server);
  await waiting.queue(url);

  await deploy(CHANGED);
  for (const visitor of inside) assert.ok(await isIn(visitor, url), 'all twenty stay');
  for (const visitor of inside.splice(0, 15)) await visitor.leave(url);
  assert.notEqual((await waiting.poll(url)).state, 'admitted', 'five are in, and five is the limit');
  // Time for a call that must not come: the visitor's next poll that counts.
  const { iat } = waiting.claims(url);
  await until('the next poll counts', () => Date.now() > (iat + 3) * 1000);
  assert.equal((await waiting.poll(url)).state, 'queueing');
  await inside.pop().leave(url);
  await until('the one who waited is in', admitted(waiting, url));
});

test('with drain_over_limit sessions over the limit are not renewed, and end', async () => {
  const url = 'http://renewed.test/';
  await deploy(AS_EVER);
  const [one, other] = [new Visitor(server), new Visitor(server)];
  await one.open(url);
  await other.open(url);
  await deploy(CHANGED);
  const ends = [one, other].map((visitor) => visitor.claims(url).exp);
  // Both go on up to the end of what they had, and no longer.
  await until('both sessions are over', async () => {
    for (const [i, visitor] of [one, other].entries()) {
      const { state, sub, exp } = visitor.claims(url);
      if (state === 'admitted' && sub === String(i + 1)) assert.ok(exp <= ends[i] + 1, 'not renewed');
      const isInside = await isIn(visitor, url);
      if (Date.now() < ends[i] * 1000) assert.ok(isInside, 'but not ended either');
    }
    return Date.now() > (Math.max(...ends) + 1) * 1000;
  });
  await until('one of them is in again', async () => (await isIn(one, url)) || (await isIn(other, url)));
  const states = [one, other].map((visitor) => visitor.claims(url).state);
  assert.equal(states.filter((state) => state === 'admitted').length, 1, 'and there is one place now');
});

test('a room that is switched off lets everybody pass, and when it is on again the line is as before', async () => {
  const url = 'http://one-1.test/';
  await deploy(AS_EVER);
  const inside = new Visitor(server);
  await inside.open(url);
  const waiting = new Visitor(server);
  await waiting.queue(url);
  const { sub } = waiting.claims(url);

  await deploy(CHANGED);
  const newcomer = new Visitor(server);
  const passed = await newcomer.open(url);
  assert.equal(passed.text, 'the site');
  assert.deepEqual(passed.setCookies, [], 'without a pass');
  assert.equal((await waiting.poll(url)).json().cfWaitingRoom.admitted, true);
  assert.equal((await waiting.open(url)).text, 'the site');

  await deploy(AS_EVER);
  assert.ok(await isIn(inside, url), 'the session goes on');
  await until('the place is kept', async () => (await waiting.poll(url)).state === 'queueing');
  assert.equal(waiting.claims(url).sub, sub);
  assert.equal((await newcomer.open(url)).state, 'joining', 'who passed has no pass');
  await inside.leave(url);
  await until('the one who waited is in', admitted(waiting, url));
});

test('queue_all holds who waits, and lets go in order when it ends', async () => {
  const url = 'http://one-3.test/';
  await deploy(AS_EVER);
  const inside = new Visitor(server);
  await inside.open(url);
  const waiting = new Visitor(server);
  await waiting.queue(url);

  await deploy(CHANGED);
  assert.ok(await isIn(inside, url), 'who is inside goes on');
  await inside.leave(url);
  assert.equal((await waiting.poll(url)).state, 'queue-all');
  const newcomer = new Visitor(server);
  await newcomer.queue(url);
  assert.equal(newcomer.claims(url).state, 'waiting', 'newcomers get a place');

  await deploy(AS_EVER);
  await until('the first is in', admitted(waiting, url));
  assert.notEqual((await newcomer.poll(url)).state, 'admitted', 'and there is one place');
});

test('a higher limit lets the next ones in at once', async () => {
  const url = 'http://one-4.test/';
  await deploy(AS_EVER);
  await new Visitor(server).open(url);
  const [first, second] = [new Visitor(server), new Visitor(server)];
  await first.queue(url);
  await second.queue(url);
  await deploy(CHANGED);
  await until('the first in line is in', admitted(first, url));
  assert.notEqual((await second.poll(url)).state, 'admitted');
});
