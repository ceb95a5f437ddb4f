// The settings that change who gets in.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NAVIGATE, PROGRAM, Visitor, ask, ours } from './harness/client.mjs';
import { stage } from './harness/stage.mjs';

const { origin, server } = await stage();

test('queue_all holds every newcomer, who keeps a place', async () => {
  const url = 'http://held.test/';
  const visitor = new Visitor(server);
  const first = await visitor.open(url);
  assert.equal(first.state, 'queue-all');
  assert.equal(visitor.claims(url).state, 'ticket');
  await visitor.open(url);
  assert.equal(visitor.claims(url).state, 'waiting');
  assert.equal(visitor.claims(url).sub, '1');
  const { cfWaitingRoom: room } = (await visitor.poll(url)).json();
  assert.equal(room.queueAll, true);
  assert.equal(room.admitted, false);
  assert.equal(origin.seen('/', 'held.test').length, 0);
});

test('a suspended room lets everybody pass and sets no cookie', async () => {
  for (const headers of [NAVIGATE, PROGRAM, { Cookie: '__cfwaitingroom=junk' }]) {
    const response = await ask(server.port, { host: 'off.test', headers });
    assert.equal(response.text, 'the site');
    assert.deepEqual(response.setCookies, []);
    assert.equal(response.state, undefined);
  }
  // The pages of those who waited when it was suspended still poll: they are called in.
  origin.requests.length = 0;
  const poll = await ask(server.port, { host: 'off.test', headers: { 'Anteroom-Poll': '1' } });
  assert.equal(poll.json().cfWaitingRoom.admitted, true);
  assert.deepEqual(poll.setCookies, []);
  assert.equal(origin.requests.length, 0);
});

test('passthrough counts and never holds', async () => {
  const numbers = new Set();
  for (let i = 0; i < 30; i++) {
    const visitor = new Visitor(server);
    assert.equal((await visitor.open('http://counted.test/')).text, 'the site');
    assert.equal(visitor.claims('http://counted.test/').state, 'admitted');
    numbers.add(visitor.claims('http://counted.test/').sub);
  }
  assert.equal(numbers.size, 30, 'thirty times the total of one');
});

test('reject lets nobody new in, gives no place and says no time', async () => {
  const page = await ask(server.port, { host: 'closed.test', headers: NAVIGATE });
  assert.equal(page.state, 'rejecting');
  assert.deepEqual(page.setCookies, []);
  assert.equal(page.headers.refresh, undefined);
  assert.equal(page.headers['retry-after'], undefined);
  const { cfWaitingRoom: room } = (await ask(server.port, { host: 'closed.test', headers: PROGRAM })).json();
  assert.equal(room.isRejectQueue, true);
  assert.equal(room.refreshIntervalSeconds, 0);
  assert.equal(origin.seen('/', 'closed.test').length, 0);
});

test('queueing_status_code is the status of the waiting page', async () => {
  await new Visitor(server).open('http://late.test/');
  for (const headers of [NAVIGATE, PROGRAM, { ...PROGRAM, 'Anteroom-Poll': '1' }]) {
    assert.equal((await ask(server.port, { host: 'late.test', headers })).status, 429);
  }
  const order = await ask(server.port, { host: 'late.test', method: 'POST', headers: PROGRAM, body: '{}' });
  assert.equal(order.status, 429);
});

test('only so many enter in a minute, however many places there are', async () => {
  const states = [];
  for (let i = 0; i < 30; i++) {
    const response = await ask(server.port, { host: 'paced.test', headers: NAVIGATE });
    states.push(ours(response).length === 1 && response.state === undefined);
  }
  assert.equal(states.filter(Boolean).length, 20);
  assert.deepEqual(states.slice(20), Array(10).fill(false));
});
