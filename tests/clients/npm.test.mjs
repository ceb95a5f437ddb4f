// Cloudflare's own client for Node makes every waiting-room call that it has.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import Cloudflare from 'cloudflare';

import { ACCOUNT, READ, start, WRITE, ZONE } from './api.mjs';

const zone = { zone_id: ZONE };
const called = new Set();
let api, client;

/** The client, which notes what is called. */
function noting(resource, path) {
  return new Proxy(resource, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value === 'function' && !String(name).startsWith('_')) {
        called.add(`${path}.${String(name)}`);
        return value.bind(target);
      }
      return resources(target).includes(name) ? noting(value, `${path}.${String(name)}`) : value;
    },
  });
}

/** The parts that a part of the client has. */
function resources(resource) {
  return Object.keys(resource).filter((name) => resource[name]?._client && !name.startsWith('_'));
}

/** The calls that a part of the client has. */
function calls(resource, path) {
  const base = Object.getPrototypeOf(Object.getPrototypeOf(resource));
  const own = Object.getOwnPropertyNames(base).filter((name) => name !== 'constructor');
  const below = resources(resource).flatMap((name) => calls(resource[name], `${path}.${name}`));
  return [...own.map((name) => `${path}.${name}`), ...below];
}

async function list(page) {
  const all = [];
  for await (const item of page) all.push(item);
  return all;
}

const room = (more) => ({
  name: 'sale',
  host: 'shop.example.com',
  new_users_per_minute: 200,
  total_active_users: 300,
  ...more,
});

before(async () => {
  api = await start();
  const options = { apiToken: WRITE, baseURL: `${api.url}/client/v4`, maxRetries: 0 };
  client = new Cloudflare(options);
  // The rooms that the Worker was built with.
  for (const { id } of await list(client.waitingRooms.list(zone))) await client.waitingRooms.delete(id, zone);
  client.rooms = noting(client.waitingRooms, 'waitingRooms');
});
after(() => api?.stop());

test('rooms', async () => {
  const made = await client.rooms.create({ ...zone, ...room({ description: 'first' }) });
  assert.match(made.id, /^[0-9a-f]{32}$/);
  assert.equal(made.session_duration, 5);
  assert.deepEqual(made.cookie_attributes, { samesite: 'auto', secure: 'auto' });
  assert.deepEqual(await client.rooms.get(made.id, zone), made);
  for (let n = 0; n < 6; n += 1) {
    await client.rooms.create({ ...zone, ...room({ name: `room-${n}`, path: `/${n}` }) });
  }
  const all = await list(client.rooms.list({ ...zone, per_page: 5 }));
  assert.deepEqual(all.map(({ name }) => name), ['sale', 'room-0', 'room-1', 'room-2', 'room-3', 'room-4', 'room-5']);
  assert.equal((await list(client.rooms.list({ account_id: ACCOUNT }))).length, 7);

  const applied = { ...zone, ...room({ queue_all: true, custom_page_html: '<p>{{waitTime}}</p>', suspended: true }) };
  const put = await client.rooms.update(made.id, applied);
  assert.equal(put.description, '');
  assert.equal(put.custom_page_html, applied.custom_page_html);
  assert.deepEqual(await client.rooms.update(made.id, applied), put, 'the same again changes nothing, not even modified_on');
  const edited = await client.rooms.edit(made.id, { ...zone, ...room({ queueing_method: 'random' }) });
  assert.deepEqual({ ...edited, modified_on: 0, queueing_method: 0 }, { ...put, modified_on: 0, queueing_method: 0 });
  for (const { id } of all.slice(1)) assert.deepEqual(await client.rooms.delete(id, zone), { id });
});

test('events', async () => {
  const [{ id }] = await list(client.rooms.list(zone));
  const at = { ...zone, waiting_room_id: id };
  const event = {
    name: 'opening',
    event_start_time: '2035-11-26T09:00:00+01:00',
    event_end_time: '2035-11-26T12:00:00Z',
    prequeue_start_time: '2035-11-26T07:30:00Z',
    shuffle_at_event_start: true,
  };
  const made = await client.rooms.events.create(id, { ...zone, ...event });
  assert.equal(made.event_start_time, event.event_start_time);
  assert.equal(made.session_duration, null);
  assert.deepEqual(await client.rooms.events.get(made.id, at), made);
  assert.deepEqual(await list(client.rooms.events.list(id, zone)), [made]);
  assert.equal((await client.rooms.get(id, zone)).next_event_prequeue_start_time, event.prequeue_start_time);
  const put = await client.rooms.events.update(made.id, { ...at, ...event, session_duration: 3 });
  assert.equal(put.session_duration, 3);
  const edited = await client.rooms.events.edit(made.id, { ...at, ...event, session_duration: null });
  assert.equal(edited.session_duration, null);
  const details = await client.rooms.events.details.get(made.id, at);
  assert.deepEqual([details.session_duration, details.queueing_method], [5, 'random']);
  assert.deepEqual(await client.rooms.events.delete(made.id, at), { id: made.id });
});

test('rules', async () => {
  const [{ id }] = await list(client.rooms.list(zone));
  const at = { ...zone, waiting_room_id: id };
  const rule = (path) => ({ action: 'bypass_waiting_room', expression: `http.request.uri.path eq "${path}"` });
  const paths = (rules) => rules.map(({ expression }) => expression.split('"')[1]);
  await list(client.rooms.rules.create(id, { ...zone, rules: rule('/a') }));
  const two = await list(client.rooms.rules.create(id, { ...zone, rules: rule('/b') }));
  assert.deepEqual(paths(two), ['/a', '/b']);
  assert.equal(two[0].version, '1');
  const moved = await list(client.rooms.rules.edit(two[1].id, { ...at, ...rule('/b'), position: { index: 1 } }));
  assert.deepEqual(paths(moved), ['/b', '/a']);
  const rules = [rule('/x'), rule('/a')];
  const put = await list(client.rooms.rules.update(id, { ...zone, rules }));
  assert.equal(put[1].id, two[0].id);
  assert.deepEqual(await list(client.rooms.rules.update(id, { ...zone, rules })), put);
  assert.deepEqual(await list(client.rooms.rules.get(id, zone)), put);
  assert.deepEqual(paths(await list(client.rooms.rules.delete(put[0].id, at))), ['/a']);
});

test('settings, status and preview', async () => {
  const [{ id }] = await list(client.rooms.list(zone));
  const off = { search_engine_crawler_bypass: false };
  const on = { search_engine_crawler_bypass: true };
  assert.deepEqual(await client.rooms.settings.get(zone), off);
  assert.deepEqual(await client.rooms.settings.edit({ ...zone, ...on }), on);
  assert.deepEqual(await client.rooms.settings.update(zone), off);
  const status = await client.rooms.statuses.get(id, zone);
  assert.equal(status.status, 'suspended');
  assert.equal(status.estimated_total_active_users, 0);
  const { preview_url } = await client.rooms.page.preview({ ...zone, custom_html: '<p>{{waitTime}}</p>' });
  const page = await fetch(`${preview_url}?waitTime=35`);
  assert.equal(await page.text(), '<p>35</p>');
  assert.match(page.headers.get('content-security-policy'), /^sandbox allow-scripts;/);
});

test('errors are those that the client knows', async () => {
  const missing = '0'.repeat(32);
  await assert.rejects(client.rooms.get(missing, zone), Cloudflare.NotFoundError);
  const wrong = client.rooms.create({ ...zone, ...room({ name: 'a b' }) });
  await assert.rejects(wrong, (error) => {
    assert.ok(error instanceof Cloudflare.BadRequestError);
    assert.equal(error.errors[0].code, 1002);
    return true;
  });
  const reader = new Cloudflare({ apiToken: READ, baseURL: `${api.url}/client/v4`, maxRetries: 0 });
  await assert.rejects(reader.waitingRooms.create({ ...zone, ...room() }), Cloudflare.PermissionDeniedError);
  const nobody = new Cloudflare({ apiToken: 'x', baseURL: `${api.url}/client/v4`, maxRetries: 0 });
  await assert.rejects(nobody.waitingRooms.list(zone), Cloudflare.AuthenticationError);
});

test('no call was left out', () => {
  const there = calls(client.waitingRooms, 'waitingRooms');
  assert.ok(there.length >= 23, there.join());
  assert.deepEqual(there.filter((call) => !called.has(call)), []);
});
