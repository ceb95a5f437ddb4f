// An event from the beginning of its pre-queue to its end, in the runtime.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { NAVIGATE, Visitor, ask } from './harness/client.mjs';
import { workerWithEvent } from './harness/event.mjs';
import { stage } from './harness/stage.mjs';
import { until } from './harness/until.mjs';

const URL_ = 'http://event.test/';
const VISITORS = 12;

const now = Date.now();
const times = { prequeue: now + 3_000, start: now + 13_000, end: now + 40_000 };
const { origin, server } = await stage({ built: workerWithEvent(times) });

/** A visitor's poll: what the JSON says. */
const look = async (visitor) => (await visitor.poll(URL_)).json().cfWaitingRoom;

test('an event opens with a draw that anybody can check, and closes again', async () => {
  const before = await ask(server.port, { host: 'event.test', headers: NAVIGATE });
  assert.equal(before.state, 'rejecting');

  const visitors = Array.from({ length: VISITORS }, () => new Visitor(server));
  await until('the pre-queue', async () => (await visitors[0].open(URL_)).state === 'joining');
  for (const visitor of visitors) await visitor.queue(URL_);
  const waiting = await Promise.all(visitors.map((visitor) => visitor.poll(URL_)));
  assert.ok(Date.now() < times.start, 'the machine is too slow for this test');
  const announced = waiting.map((answer) => answer.json().cfWaitingRoom);
  const commitment = announced[0].drawCommitment;
  assert.match(commitment, /^[0-9a-f]{64}$/);
  for (const [n, room] of announced.entries()) {
    assert.equal(room.state, 'prequeueing');
    assert.equal(room.isEventActive && room.isEventPrequeueing && room.shuffleAtEventStart, true);
    assert.equal(room.eventStartTime, new Date(times.start).toISOString());
    assert.ok(room.secondsUntilEventStart > 0 && room.secondsUntilEventStart <= 11);
    assert.equal(room.positionKnown, false);
    assert.equal(room.drawCommitment, commitment);
    assert.equal(room.drawKey, '');
    assert.equal(waiting[n].headers['anteroom-draw'].includes(`commitment=${commitment}`), true);
    assert.equal(waiting[n].headers['anteroom-draw'].includes('key='), false);
  }
  assert.equal(origin.seen('/', 'event.test').length, 0);
  const page = await visitors[0].open(URL_);
  assert.match(page.text, /Starting soon/);
  assert.ok(page.text.includes(commitment));

  // The runtime is killed in the pre-queue; the commitment is the same afterwards.
  await server.kill9();
  await server.restart();
  assert.equal((await look(visitors[0])).drawCommitment, commitment);

  const drawn = await until('the draw', async () => {
    const rooms = await Promise.all(visitors.map(look));
    return rooms.every((room) => room.drawKey) && rooms;
  });
  const { drawKey: key, drawFirst: first, drawCount: count } = drawn[0];
  assert.equal(createHash('sha256').update(Buffer.from(key, 'hex')).digest('hex'), commitment);
  assert.equal(count, VISITORS);
  const program = fileURLToPath(new URL('../../examples/verify_draw.mjs', import.meta.url));
  const numbers = drawn.map((room) => String(room.drawNumber));
  const inputs = ['--commitment', commitment, '--key', key, '--count', count, '--first', first, ...numbers];
  const places = execFileSync(process.execPath, [program, ...inputs.map(String)]).toString().trim().split('\n').map(Number);
  assert.deepEqual(drawn.map((room) => room.drawPlace), places);
  assert.deepEqual([...places].sort((a, b) => a - b), Array.from({ length: VISITORS }, (_, n) => first + n));

  // The first two places get in, and everybody else has as many ahead as their place says.
  const inside = await until('two are in', async () => {
    const rooms = await Promise.all(visitors.map(look));
    return rooms.filter((room) => room.admitted).length === 2 && rooms;
  });
  for (const [n, room] of inside.entries()) {
    assert.equal(room.admitted, places[n] < first + 2, `place ${places[n]}`);
  }
  await until('the line is told', async () => {
    const rooms = await Promise.all(visitors.map(look));
    return rooms.every((room, n) => room.admitted || room.usersAhead === places[n] - first - 2);
  });

  // Whoever comes now is behind them all.
  const late = new Visitor(server);
  await late.queue(URL_);
  await until('the late one has a place', async () => (await look(late)).usersAhead === VISITORS - 2);
  assert.equal((await look(late)).drawKey, '');

  // The event ends: the room is closed for newcomers, and those inside go on.
  await until('the end', async () => (await ask(server.port, { host: 'event.test', headers: NAVIGATE })).state === 'rejecting', { within: 40_000 });
  const guest = visitors[places.indexOf(first)];
  assert.equal((await guest.open(URL_)).text, 'the site');
});
