// Rooms are changed while they run: what isolates and rooms know of it when, and what they go by when
// there is nobody to ask.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';

import { NAVIGATE, Visitor, ask } from './harness/client.mjs';
import { Copies } from './harness/copies.mjs';
import { ANTEROOM_API, Operator } from './harness/operator.mjs';
import { Origin } from './harness/origin.mjs';
import { until } from './harness/until.mjs';
import { Workerd } from './harness/workerd.mjs';

/** What docs/configuration.md promises, in milliseconds. */
const PROMISED = 5_000;
const ISOLATES = 3;

let origin, copies, server, operator;
before(async () => {
  origin = await Origin.start();
  copies = await Copies.start();
  server = await Workerd.start(origin, { vars: { ANTEROOM_API }, switchable: true, copies, isolates: ISOLATES });
  operator = new Operator(server);
});
after(async () => {
  await server.stop();
  copies.stop();
  origin.stop();
});
afterEach(() => {
  origin.restoreRooms();
  copies.state = { cache: 'up', kv: 'up' };
});

/** A newcomer's answer on a port, without cookies. */
const newcomer = (host, port = server.port) => ask(port, { host, headers: NAVIGATE });
const isIn = async (visitor, url) => (await visitor.open(url)).state === undefined;
const admitted = (visitor, url) => async () => (await visitor.poll(url)).state === 'admitted';

/** A restart: every isolate is new, the storage and the copies are as before. */
async function anew() {
  await server.kill9();
  await server.restart();
}

test('until the first change the rooms of the build are in force, and the object is not in the way', async () => {
  assert.deepEqual(await operator.standing(), { version: '0.0', source: 'rooms.toml' });
  assert.equal((await newcomer('walk.test')).text, 'the site');
  assert.equal((await operator.room('walk.test')).total_active_users, 100_000);
});

test('every isolate goes by a change within five seconds, and none ever goes back', async () => {
  const host = 'walk.test';
  const seen = server.ports.map(() => []);
  let told = performance.now();
  let going = true;
  // Visitors come to each isolate all the time; what they see are the two settings by which each
  // version is known.
  const watchers = server.ports.map(async (port, i) => {
    while (going) {
      const response = await newcomer(host, port);
      const version = response.state === 'queue-all' ? response.status : 'open';
      seen[i].push([version, performance.now() - told]);
      // A sale has a request every few milliseconds.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  const spread = [];
  for (const [fields, known] of [
    [{ queue_all: true, queueing_status_code: 202 }, 202],
    [{ queue_all: true, queueing_status_code: 429 }, 429],
    [{ queue_all: false }, 'open'],
  ]) {
    await operator.change(host, fields);
    told = performance.now();
    for (const list of seen) list.length = 0;
    await until(`all go by ${known}`, () => seen.every((list) => list.at(-1)?.[0] === known), { every: 10 });
    const first = seen.map((list) => Math.round(list.find(([version]) => version === known)[1]));
    spread.push(first);
    for (const list of seen) {
      const kinds = list.map(([version]) => version);
      assert.ok(kinds.lastIndexOf(known) === kinds.length - 1, 'and stay so');
      const from = kinds.indexOf(known);
      assert.deepEqual([...new Set(kinds.slice(from))], [known], 'nobody goes back, or sees half a change');
    }
    for (const time of first) assert.ok(time < PROMISED, `${known} after ${time} ms`);
  }
  going = false;
  await Promise.all(watchers);
  console.log('isolates went by a change after (ms):', JSON.stringify(spread));
});

test('an isolate that was idle goes by a change with its first request', async () => {
  const host = 'one-12.test';
  for (const port of server.ports) await newcomer(host, port);
  await operator.change(host, { queue_all: true, queueing_status_code: 429 });
  const changed = performance.now();
  await until('longer than a configuration is used unasked', () => performance.now() - changed > 3_200);
  for (const port of server.ports) assert.equal((await newcomer(host, port)).status, 429);
});

test('an isolate looks once in two seconds, however many requests it has', async () => {
  const before = { ...copies.calls, control: origin.calls.control };
  const begin = performance.now();
  while (performance.now() - begin < 8_000) await Promise.all(server.ports.map((port) => newcomer('off.test', port)));
  const looks = copies.calls['cache GET'] - before['cache GET'];
  const asked = origin.calls.control - before.control;
  // A look finds the version, or neither it nor the publication of it.
  assert.ok(looks <= ISOLATES * 2 * 5, `${looks} looks at the cache in 8 s`);
  assert.ok(asked <= ISOLATES * 5, `${asked} calls in 8 s`);
  console.log(`in 8 s ${ISOLATES} isolates looked ${looks} times at the cache and asked the object ${asked} times`);
});

test('a room goes by new limits at once, and after its end too', async () => {
  const url = 'http://one-1.test/';
  const inside = new Visitor(server);
  await inside.open(url);
  const waiting = [new Visitor(server), new Visitor(server)];
  for (const visitor of waiting) await visitor.queue(url);
  await operator.change('one-1.test', { total_active_users: 2 });
  const begin = performance.now();
  await until('the first in line is in', admitted(waiting[0], url), { every: 50 });
  const took = performance.now() - begin;
  assert.ok(took < PROMISED, `${took} ms`);
  assert.notEqual((await waiting[1].poll(url)).state, 'admitted', 'and the limit is two');
  // The room's object begins anew, and there is nobody to ask.
  origin.control = 'throws';
  await anew();
  assert.ok(await isIn(inside, url), 'the session goes on');
  assert.equal((await new Visitor(server).open(url)).state, 'joining', 'the room is full');
  await inside.leave(url);
  await until('the second is in: the limit is two still', admitted(waiting[1], url));
});

test('who is inside stays inside whatever is changed, and who waits keeps the place', async () => {
  const host = 'one-2.test';
  const url = `http://${host}/`;
  const inside = new Visitor(server);
  await inside.open(url);
  const waiting = new Visitor(server);
  await waiting.queue(url);
  const { sub } = waiting.claims(url);
  const changed = async (fields) => {
    await operator.change(host, fields);
    // By the status of a page that is known to be of the new version.
    const code = fields.queueing_status_code;
    await until('the isolate goes by it', async () => (await newcomer(host)).status === code);
  };
  for (const fields of [
    { queueing_method: 'random', queueing_status_code: 202 },
    { queueing_method: 'fifo', custom_page_html: '<p>{{waitTime}} of ours</p>', queueing_status_code: 429 },
    { new_users_per_minute: 300, session_duration: 10, queueing_status_code: 200 },
  ]) {
    await changed(fields);
    assert.ok(await isIn(inside, url), JSON.stringify(fields));
    assert.notEqual((await waiting.poll(url)).state, 'joining', JSON.stringify(fields));
    assert.equal(waiting.claims(url).sub, sub, JSON.stringify(fields));
  }
  assert.match((await newcomer(host)).text, /of ours/, 'the page is the new one');

  await operator.change(host, { suspended: true });
  await until('the room is off', async () => (await newcomer(host)).text === 'the site');
  await operator.change(host, { suspended: false });
  await until('the room is on', async () => (await newcomer(host)).state === 'joining');
  assert.ok(await isIn(inside, url), 'the session has gone on');
  await inside.leave(url);
  await until('the place was kept', admitted(waiting, url));
  assert.equal(waiting.claims(url).sub, sub);
});

test('a room that moves to another path takes its visitors along', async () => {
  const url = 'http://one-3.test/shop';
  const inside = new Visitor(server);
  await inside.open(url);
  const waiting = new Visitor(server);
  await waiting.queue(url);
  const { sub } = waiting.claims(url);
  // The cookie gets the path of the room, so it is the same one below the old path alone.
  await operator.change('one-3.test', { path: '/shop' });
  await until('the rest is free', async () => (await newcomer('one-3.test')).text === 'the site');
  assert.ok(await isIn(inside, url));
  assert.equal((await waiting.poll(url)).state, 'queueing');
  assert.equal(waiting.claims(url).sub, sub);
});

test('a room that is deleted lets pass, and one of the same name is another', async () => {
  const host = 'one-4.test';
  const url = `http://${host}/`;
  const inside = new Visitor(server);
  await inside.open(url);
  const waiting = new Visitor(server);
  await waiting.queue(url);
  const room = await operator.room(host);
  await operator.call('DELETE', `/waiting_rooms/${room.id}`);
  await until('everybody passes', async () => (await newcomer(host)).text === 'the site');
  assert.equal((await waiting.open(url)).text, 'the site');

  const { id, created_on, modified_on, next_event_start_time, next_event_prequeue_start_time, ...fields } = room;
  const again = await operator.call('POST', '/waiting_rooms', fields);
  assert.notEqual(again.id, id);
  const first = await until('the new room is there', async () => {
    const visitor = new Visitor(server);
    await visitor.open(url);
    return visitor.claims(url) && visitor;
  });
  assert.equal(first.claims(url).sub, '1', 'it begins empty');
  assert.notEqual((await inside.open(url)).state, undefined, 'the old pass opens nothing');
  assert.equal(inside.claims(url).aud.split('.')[0], again.id);
});

test('a room that is new is there for every isolate', async () => {
  const host = 'brand-new.test';
  assert.equal((await newcomer(host)).text, 'the site');
  await operator.call('POST', '/waiting_rooms', {
    name: 'brand-new', host, total_active_users: 200, new_users_per_minute: 200, queue_all: true,
  });
  for (const port of server.ports) {
    const response = await until('the room is there', async () => {
      const answer = await newcomer(host, port);
      return answer.state && answer;
    });
    assert.equal(response.state, 'queue-all');
  }
});

for (const how of ['throws', 'hangs']) {
  test(`the object ${how}: isolates go on with what they know`, async () => {
    origin.control = how;
    const begin = performance.now();
    let slowest = 0;
    while (performance.now() - begin < 6_000) {
      const sent = performance.now();
      assert.equal((await newcomer('brand-new.test')).state, 'queue-all');
      slowest = Math.max(slowest, performance.now() - sent);
    }
    assert.ok(slowest < 1_500, `the slowest took ${slowest} ms`);
    assert.equal((await operator.ask('GET', '/waiting_rooms')).status, 503);
  });
}

test('a new isolate goes by the copy of the data centre when the object hangs', async () => {
  origin.control = 'hangs';
  await anew();
  copies.state.kv = 'throws';
  const [begin, response] = [performance.now(), await newcomer('brand-new.test')];
  assert.equal(response.state, 'queue-all');
  assert.ok(performance.now() - begin < 3_000);
});

test('a new isolate goes by the copy in KV when there is nothing nearer', async () => {
  await until('KV has the newest', async () => {
    const { version } = await operator.standing();
    return copies.kv.get('configuration')?.startsWith(`${version}\n`);
  });
  origin.control = 'throws';
  await anew();
  copies.cache.clear();
  assert.equal((await newcomer('brand-new.test')).state, 'queue-all');
});

test('a new isolate that can reach nothing goes by the rooms of its build, and later by the newest', async () => {
  origin.control = 'throws';
  copies.state = { cache: 'throws', kv: 'throws' };
  await anew();
  assert.equal((await newcomer('brand-new.test')).text, 'the site', 'which it has not');
  assert.equal((await newcomer('one-12.test')).status, 200, 'the status code of the build');
  origin.restoreRooms();
  copies.state = { cache: 'up', kv: 'up' };
  await until('the newest is in force', async () => (await newcomer('brand-new.test')).state === 'queue-all');
});

test('what runs is exported as rooms.toml, with who has changed what', async () => {
  const { rooms_toml: text } = await operator.call('GET', '/anteroom/export');
  assert.match(text, /host = "brand-new\.test"/);
  const trail = await operator.call('GET', '/anteroom/audit');
  assert.equal(trail[0].by, 'operator');
  assert.equal(trail[0].action, 'create');
});
