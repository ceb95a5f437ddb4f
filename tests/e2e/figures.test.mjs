// What a room tells its operator of itself. That minutes are kept is in tests/long/figures.test.mjs,
// because a minute takes a minute.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Visitor } from './harness/client.mjs';
import { ANTEROOM_API, Operator } from './harness/operator.mjs';
import { stage } from './harness/stage.mjs';
import { until } from './harness/until.mjs';

const { server } = await stage({ vars: { ANTEROOM_API } });
const operator = new Operator(server);

/** The value of a metric of a room. */
async function metric(name, room) {
  const response = await operator.ask('GET', '/anteroom/metrics');
  assert.equal(response.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  const line = response.text.split('\n').find((text) => text.startsWith(`${name}{room="${room}"}`));
  return Number(line.split(' ')[1]);
}

test('the status is that of the moment', async () => {
  const url = 'http://one-1.test/';
  await new Visitor(server).open(url);
  const { id } = await operator.room('one-1.test');
  const status = () => operator.call('GET', `/waiting_rooms/${id}/status`);
  const alone = await status();
  assert.deepEqual([alone.active_users, alone.admitted_last_minute], [1, 1]);
  assert.ok(Math.abs(Date.now() - Date.parse(alone.as_of)) < 2_000, 'no older than two seconds');
  const waiting = new Visitor(server);
  await waiting.queue(url);
  const full = await status();
  assert.deepEqual([full.status, full.estimated_queued_users, full.event_id], ['queueing', 1, '']);
  const place = await operator.call('GET', `/waiting_rooms/${id}/places/${waiting.claims(url).sub}`);
  assert.deepEqual([place.state, place.users_ahead], ['waiting', 0]);
  await waiting.leave(url);
  await until('nobody is in line', async () => (await status()).estimated_queued_users === 0);
});

test('metrics count what the room has seen, and what edges report', async () => {
  const url = 'http://renewed.test/';
  const { name } = await operator.room('renewed.test');
  const visitor = new Visitor(server);
  await visitor.open(url);
  assert.equal(await metric('anteroom_room_up', name), 1);
  assert.equal(await metric('anteroom_active_users', name), 1);
  assert.equal(await metric('anteroom_slots_granted_total', name), 1);
  await until('the edge has reported what passed', async () => {
    await visitor.open(url);
    return (await metric('anteroom_requests_passed_total', name)) > 1;
  });
  await visitor.leave(url);
  await until('the end is counted', async () => (await metric('anteroom_sessions_left_total', name)) === 1);
  assert.equal(await metric('anteroom_session_seconds_count', name), 1);
});

test('who passes by a room is counted with the next report', async () => {
  const url = 'http://bypassed-one.test/';
  const { name } = await operator.room('bypassed-one.test');
  const visitor = new Visitor(server);
  await visitor.open(url);
  for (let i = 0; i < 3; i++) await visitor.open(url, { headers: { 'X-Monitor': 'please' } });
  await until('it is reported', async () => {
    await visitor.open(url);
    return (await metric('anteroom_requests_bypassed_total', name)) === 3;
  });
});

test('a window without rows has no points, and one that makes no sense is refused', async () => {
  const { id } = await operator.room('one-1.test');
  const series = `/waiting_rooms/${id}/series`;
  const [since, until] = ['2026-01-01T00:00:00Z', '2026-01-01T00:15:00Z'];
  assert.deepEqual(await operator.call('GET', `${series}?since=${since}&until=${until}`), {
    since, until, step_seconds: 900, points: [],
  });
  for (const query of ['step=61', 'since=yesterday', 'step=x', `since=${until}&until=${since}`]) {
    assert.equal((await operator.ask('GET', `${series}?${query}`)).status, 400, query);
  }
});

test('nothing of it without a token', async () => {
  const { id } = await operator.room('one-1.test');
  for (const path of ['/anteroom/metrics', `/waiting_rooms/${id}/series`, `/waiting_rooms/${id}/places/1`]) {
    assert.equal((await operator.ask('GET', path, undefined, { token: 'a'.repeat(40) })).status, 401, path);
  }
});
