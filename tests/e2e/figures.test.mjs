// What a room tells its operator of itself. That minutes are kept is in tests/long/figures.test.mjs,
// because a minute takes a minute.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Visitor } from './harness/client.mjs';
import { stage } from './harness/stage.mjs';
import { until } from './harness/until.mjs';

const { server } = await stage({ probe: true });

test('the status is that of the moment', async () => {
  const url = 'http://one-1.test/';
  const visitor = new Visitor(server);
  await visitor.open(url);
  const room = visitor.claims(url).aud.split('.')[0];
  const { status: alone } = await server.ask(room, 'status');
  assert.equal(alone.active_users, 1);
  assert.equal(alone.admitted_last_minute, 1);
  assert.ok(Math.abs(Date.now() - Date.parse(alone.as_of)) < 2_000, 'no older than two seconds');
  await new Visitor(server).queue(url);
  const { status } = await server.ask(room, 'status');
  assert.equal(status.status, 'queueing');
  assert.equal(status.estimated_queued_users, 1);
  assert.equal(status.event_id, '');
});

test('totals count what the room has seen, and what edges report', async () => {
  const url = 'http://renewed.test/';
  const visitor = new Visitor(server);
  await visitor.open(url);
  const room = visitor.claims(url).aud.split('.')[0];
  const tally = async () => (await server.ask(room, 'totals')).totals.tally;
  assert.equal((await tally()).granted - (await tally()).returned, 1);
  await until('the edge has reported what passed', async () => {
    await visitor.open(url);
    return (await tally()).edges.passed > 1;
  });
  await visitor.leave(url);
  await until('the end of the session is counted', async () => (await tally()).left === 1);
  assert.equal(Object.values((await tally()).stayed.buckets).reduce((sum, count) => sum + count, 0), 1);
});

test('a window without rows has no points, and nonsense an answer', async () => {
  const url = 'http://renewed.test/';
  const visitor = new Visitor(server);
  await visitor.open(url);
  const room = visitor.claims(url).aud.split('.')[0];
  const window = { since: 0, until: 900_000, step: 900_000 };
  const { series } = await server.ask(room, { series: window });
  assert.deepEqual(series, {
    since: '1970-01-01T00:00:00Z', until: '1970-01-01T00:15:00Z', step_seconds: 900, points: [],
  });
  await assert.rejects(server.ask(room, 'weather'), /unknown variant/);
});
