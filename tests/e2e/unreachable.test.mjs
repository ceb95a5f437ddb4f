// The room cannot be reached: visitors inside go on, the others get an answer all the same.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { NAVIGATE, Visitor, ask } from './harness/client.mjs';
import { stage } from './harness/stage.mjs';
import { until } from './harness/until.mjs';

const { origin, server } = await stage({ switchable: true });

afterEach(() => origin.restoreRooms());

/** How long an answer takes, in milliseconds, and the answer. */
async function timed(send) {
  const start = performance.now();
  const response = await send();
  return [performance.now() - start, response];
}

const newcomer = (host, headers = NAVIGATE) => timed(() => ask(server.port, { host, headers }));

for (const how of ['throws', 'hangs']) {
  test(`the room ${how}: who is inside goes on`, async () => {
    for (const host of ['walk.test', 'fail-closed.test', 'fail-open.test']) {
      const url = `http://${host}/`;
      origin.restoreRooms();
      const visitor = await until('somebody is in', async () => {
        const candidate = new Visitor(server);
        await candidate.open(url);
        return candidate.claims(url)?.state === 'admitted' && candidate;
      });
      origin.rooms = how;
      for (let i = 0; i < 5; i++) {
        const [took, response] = await timed(() => visitor.open(url));
        assert.equal(response.text, 'the site');
        assert.ok(took < 1_000, `${host}: ${took} ms`);
      }
    }
  });

  test(`the room ${how}: newcomers wait (fail closed), are answered in time, and come in later`, async () => {
    const host = 'fail-closed.test';
    const url = `http://${host}/`;
    const visitor = new Visitor(server);
    origin.rooms = how;
    const [took, first] = await timed(() => visitor.open(url));
    assert.equal(first.state, 'unavailable');
    assert.equal(first.status, 200);
    assert.match(first.text, /We cannot look up the line right now/);
    assert.ok(took < 3_900, `${took} ms`);
    assert.ok(Number(first.headers['retry-after']) > 0);
    // Calls rest for a moment now, so the next ones do not wait.
    for (let i = 0; i < 5; i++) {
      const [again, response] = await newcomer(host);
      assert.equal(response.state, 'unavailable');
      assert.ok(again < 1_000, `${again} ms`);
    }
    const [, order] = await newcomer(host, { Accept: 'application/json' });
    assert.equal(order.json().cfWaitingRoom.inWaitingRoom, true);
    assert.equal(visitor.claims(url).state, 'ticket');

    origin.restoreRooms();
    await until('the visitor is in', async () => (await visitor.open(url)).state === undefined);
  });

  test(`the room ${how}: newcomers pass without a pass (fail open)`, async () => {
    const host = 'fail-open.test';
    origin.rooms = how;
    for (let i = 0; i < 4; i++) {
      const [took, response] = await newcomer(host);
      assert.equal(response.text, 'the site');
      assert.deepEqual(response.setCookies, [], 'no pass is issued');
      assert.ok(took < (i === 0 ? 3_900 : 1_000), `${took} ms`);
    }
    const [, poll] = await newcomer(host, { 'Anteroom-Poll': '1' });
    assert.equal(poll.json().cfWaitingRoom.admitted, true);
    assert.deepEqual(poll.setCookies, []);

    origin.restoreRooms();
    await until('passes are issued again', async () => {
      const candidate = new Visitor(server);
      await candidate.open(`http://${host}/`);
      return candidate.claims(`http://${host}/`)?.state === 'admitted';
    });
  });
}

test('a waiting visitor keeps the place while the room is away', async () => {
  const url = 'http://one-1.test/';
  const inside = await until('somebody is in', async () => {
    const candidate = new Visitor(server);
    return (await candidate.open(url)).state === undefined && candidate;
  });
  const visitor = new Visitor(server);
  await visitor.queue(url);
  const { sub } = visitor.claims(url);
  origin.rooms = 'throws';
  const poll = await until('the edge has noticed', async () => {
    const answer = await visitor.poll(url);
    return answer.state === 'unavailable' && answer;
  });
  const { cfWaitingRoom: room } = poll.json();
  assert.equal(room.position, 1, 'the last that is known');
  assert.equal(visitor.claims(url).sub, sub);
  origin.restoreRooms();
  await until('the room is back', async () => (await visitor.poll(url)).state === 'queueing');
  await inside.leave(url);
  await until('the visitor is in', async () => (await visitor.poll(url)).state === 'admitted');
  assert.equal(visitor.claims(url).sub, sub, 'with the same number');
});
