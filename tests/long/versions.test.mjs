// After a deployment edges run the new release at once, and rooms the old one for some minutes; after a
// rollback it is the other way round. A visitor notices neither. `make test-all` builds what this needs.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { crowd } from '../../crowd/crowd.mjs';
import { seeded } from '../../crowd/random.mjs';
import { Site } from '../../crowd/site.mjs';
import { admissions } from '../../crowd/verdicts.mjs';
import { Proxy } from '../../chaos/proxy.mjs';
import { Visitor } from '../e2e/harness/client.mjs';
import { Origin } from '../e2e/harness/origin.mjs';
import { until } from '../e2e/harness/until.mjs';
import { Workerd } from '../e2e/harness/workerd.mjs';

const NEW = 'target/e2e-worker';
const OLD = 'target/previous-worker';
const skip = existsSync(new URL(`../../${OLD}/index.js`, import.meta.url)) ? false : `no ${OLD}: scripts/build-previous.sh has the reason`;

for (const [edge, rooms, how] of [
  [NEW, OLD, 'an edge of this release and rooms of the last'],
  [OLD, NEW, 'an edge of the last release and rooms of this'],
]) {
  describe(how, { skip }, () => {
    let origin, server;
    before(async () => {
      origin = await Origin.start();
      server = await Workerd.start(origin, { built: edge, rooms });
    });
    after(async () => {
      await server?.stop();
      origin.stop();
    });

    test('who arrives waits, is called, comes in and leaves', async () => {
      const url = 'http://one-1.test/';
      const inside = new Visitor(server);
      assert.equal((await inside.open(url)).state, undefined);
      const waiting = new Visitor(server);
      assert.equal((await waiting.open(url)).state, 'joining');
      const queued = await waiting.open(url);
      assert.equal(queued.state, 'queueing');
      assert.equal(waiting.claims(url).sub, '2');
      const poll = await waiting.poll(url);
      assert.equal(poll.json().cfWaitingRoom.position, 1);
      const behind = new Visitor(server);
      await behind.queue(url);
      await until('the one behind sees one ahead', async () => (await behind.poll(url)).json().cfWaitingRoom.usersAhead === 1);

      const kept = inside.copy();
      assert.equal((await inside.leave(url)).state, 'left');
      await until('the one who waited is in', async () => (await waiting.poll(url)).state === 'admitted');
      assert.equal(waiting.claims(url).sub, '2', 'with the number that waited');
      assert.equal((await waiting.open(url)).text, 'the site');
      await until('the pass that was given back is refused', async () => (await kept.open(url)).state !== undefined);
      assert.notEqual((await behind.poll(url)).state, 'admitted', 'there is one place');
    });

    test('a place in line that is given up makes way', async () => {
      const url = 'http://one-2.test/';
      await new Visitor(server).open(url);
      const [first, second] = [new Visitor(server), new Visitor(server)];
      await first.queue(url);
      await second.queue(url);
      await first.leave(url);
      await until('nobody is ahead', async () => (await second.poll(url)).json().cfWaitingRoom.usersAhead === 0);
    });

    test('a pass is renewed', async () => {
      const url = 'http://renewed.test/';
      const visitor = new Visitor(server);
      await visitor.open(url);
      const first = visitor.claims(url);
      const renewed = await until('the pass is renewed', async () => {
        assert.equal((await visitor.open(url)).text, 'the site');
        return visitor.claims(url).exp > first.exp && visitor.claims(url);
      });
      assert.equal(renewed.sub, first.sub);
      assert.ok(renewed.iat - first.iat >= 2, 'and not before a quarter of it has passed');
    });

    test('the origin ends a session', async () => {
      const url = 'http://revoked.test/';
      origin.on('/checkout', { headers: ['Cf-Waiting-Room-Command', 'revoke'], body: 'thank you' });
      const visitor = new Visitor(server);
      await visitor.open(url);
      const waiting = new Visitor(server);
      await waiting.queue(url);
      assert.equal((await visitor.open(`${url}checkout`)).text, 'thank you');
      assert.equal(visitor.token(url), undefined);
      await until('who waited is in', async () => (await waiting.poll(url)).state === 'admitted');
    });

    test('both limits hold', async () => {
      for (const [url, limit] of [['http://crash.test/', 20], ['http://paced.test/', 20]]) {
        const visitors = Array.from({ length: 60 }, () => new Visitor(server));
        await Promise.all(visitors.map((visitor) => visitor.open(url)));
        await Promise.all(visitors.map((visitor) => visitor.open(url)));
        await Promise.all(visitors.map((visitor) => visitor.poll(url)));
        const states = visitors.map((visitor) => visitor.claims(url));
        assert.equal(states.filter(({ state }) => state === 'admitted').length, limit, url);
        assert.equal(new Set(states.map(({ sub }) => sub)).size, 60, `${url}: no number twice`);
      }
    });
  });
}

describe('what one release has stored', { skip }, () => {
  const url = 'http://one-1.test/';
  let origin, server;
  before(async () => {
    origin = await Origin.start();
    server = await Workerd.start(origin, { built: OLD });
  });
  after(async () => {
    await server?.stop();
    origin.stop();
  });
  const deploy = async (built) => {
    await server.kill9();
    server.deploy(built);
    await server.restart();
  };
  const inside = { one: undefined };
  const line = [];

  test('the next one reads: numbers, places and sessions are what they were', async () => {
    inside.one = new Visitor(server);
    await inside.one.open(url);
    for (let i = 0; i < 3; i += 1) {
      line.push(new Visitor(server));
      await line[i].queue(url);
    }
    const left = new Visitor(server);
    await left.open('http://one-2.test/');
    const copy = left.copy();
    await left.leave('http://one-2.test/');

    await deploy(NEW);
    assert.equal((await inside.one.open(url)).text, 'the site');
    for (const visitor of line) {
      const { sub } = visitor.claims(url);
      await until('the place is there', async () => (await visitor.poll(url)).state === 'queueing');
      assert.equal(visitor.claims(url).sub, sub);
    }
    const next = new Visitor(server);
    await next.queue(url);
    assert.equal(next.claims(url).sub, '5', 'numbers go on');
    line.push(next);
    await until('a session that was given back stays over', async () => {
      await copy.open('http://one-2.test/');
      return copy.claims('http://one-2.test/').sub !== '1';
    });
  });

  test('the last one refuses what it cannot read, and nothing is lost', async () => {
    // The first write in this release's form.
    await inside.one.leave(url);
    await until('the first in line is in', async () => (await line[0].poll(url)).state === 'admitted');

    await deploy(OLD);
    assert.equal((await line[0].open(url)).text, 'the site', 'who is inside goes on');
    const held = line.map((visitor) => visitor.claims(url).sub);
    const newcomer = await new Visitor(server).open(url);
    assert.equal(newcomer.state, 'unavailable', 'the room is not opened');
    assert.equal((await line[1].poll(url)).state, 'unavailable');
    assert.match(server.log.join('\n'), /stored in format \d+, this version of anteroom reads up to 1/);

    await deploy(NEW);
    assert.equal((await line[0].open(url)).text, 'the site');
    await until('the room is open again', async () => (await line[1].poll(url)).state === 'queueing');
    assert.deepEqual(line.map((visitor) => visitor.claims(url).sub), held, 'everybody has the number of before');
    await line[0].leave(url);
    await until('the next in line is in', async () => (await line[1].poll(url)).state === 'admitted');
    const next = new Visitor(server);
    await next.queue(url);
    assert.equal(next.claims(url).sub, '6', 'numbers go on');
  });
});

test('a crowd notices nothing of a deployment that rolls through', { skip }, async () => {
  const seed = 20_261_130;
  const site = await Site.start({ seed });
  after(() => site.stop());
  const server = await Workerd.start(site, { built: OLD, rooms: OLD });
  after(() => server.stop());
  const proxy = await Proxy.start(seeded(seed));
  after(() => proxy.stop());
  proxy.target = server.port;
  /** What runs from which second on: first the edges are new, then the rooms, then a rollback of edges. */
  const steps = [[4, NEW, OLD], [9, NEW, NEW], [14, OLD, NEW], [19, NEW, NEW]];
  let rolling = Promise.resolve();
  const { record, ended } = await crowd({
    url: 'http://crowd.test/',
    connectTo: `http://127.0.0.1:${proxy.port}`,
    options: {
      visitors: 300, span: 12, pages: 3, think: 1.2, 'no-show': 0.05, leave: 0.03, vanish: 0,
      minutes: 3, connections: 60, seed, cookie: '__cfwaitingroom',
    },
    rough: { sessionMs: 300_000 },
    onSecond(now) {
      if (steps.length === 0 || now.age < steps[0][0] * 1000) return;
      const [, edge, rooms] = steps.shift();
      rolling = rolling.then(async () => {
        await server.kill9();
        proxy.target = undefined;
        server.deploy(edge, rooms);
        await server.restart();
        proxy.target = server.port;
      });
    },
  });
  await rolling;
  assert.equal(steps.length, 0, 'it was all rolled through');
  assert.equal(ended, 'all are done');
  assert.deepEqual(record.faults, {}, record.told.join('\n'));
  const seen = admissions(record);
  assert.ok(seen.active <= 50, `${seen.active} inside`);
  assert.deepEqual(seen.doubles, []);
  assert.deepEqual(seen.overtaken, []);
  assert.ok(record.counted('entered after waiting') > 50);
});
