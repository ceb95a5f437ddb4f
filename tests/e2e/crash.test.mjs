// kill -9 in mid-load, and up again: what the room has promised still holds.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Visitor } from './harness/client.mjs';
import { stage } from './harness/stage.mjs';
import { until } from './harness/until.mjs';

const { server } = await stage();

const PLACES = 20;

/** Lets a visitor ask again and again; what happens to a request when the runtime dies is all one. */
async function press(visitor, url, while_) {
  while (while_()) {
    try {
      await visitor.open(url);
    } catch {
      return;
    }
  }
}

for (const [way, url] of [
  ['a room that is called directly', 'http://crash.test/'],
  ['a room behind relays, which die with what they hold', 'http://crash-relayed.test/'],
]) {
  test(`${way}: no number twice, no session forgotten, no place lost`, async () => {
    let crowd = [];
    const numbers = () => crowd.map((visitor) => visitor.claims(url)).filter((held) => held && held.state !== 'ticket');
    for (let life = 1; life <= 3; life++) {
      const newcomers = Array.from({ length: 60 }, () => new Visitor(server));
      crowd = crowd.concat(newcomers);
      const before = new Map(crowd.map((visitor) => [visitor, visitor.claims(url)]));
      let running = true;
      const load = crowd.map((visitor) => press(visitor, url, () => running));
      // In the middle: all places are taken, some have a number already, and others have none yet. (A
      // session whose first answer is lost in the crash stays counted, with nobody to use it.)
      await until('some have a number', () => {
        const inside = numbers().filter((held) => held.state === 'admitted');
        const waiting = newcomers.filter((visitor) => visitor.claims(url)?.state === 'waiting');
        return inside.length === PLACES && waiting.length >= 5;
      }, { every: 1 });
      await server.kill9();
      running = false;
      await Promise.all(load);
      await server.restart();

      const subs = numbers().map((held) => held.sub);
      assert.equal(new Set(subs).size, subs.length, `life ${life}: no number twice`);
      const admitted = numbers().filter((held) => held.state === 'admitted');
      assert.equal(admitted.length, PLACES, `life ${life}`);
      for (const [visitor, held] of before) {
        if (held && held.state !== 'ticket') assert.equal(visitor.claims(url).sub, held.sub, 'everybody keeps the number');
      }

      // Sessions from before the crash are still counted, and their passes still good.
      for (const visitor of crowd.filter((one) => one.claims(url)?.state === 'admitted')) {
        assert.equal((await visitor.open(url)).text, 'the site');
      }
      await until('everybody has a number', async () => {
        await Promise.all(crowd.map((visitor) => visitor.open(url)));
        return numbers().length === crowd.length;
      });
      const all = numbers();
      assert.equal(new Set(all.map((held) => held.sub)).size, crowd.length, `life ${life}: no number twice after the restart`);
      assert.equal(all.filter((held) => held.state === 'admitted').length, PLACES, `life ${life}: no session forgotten`);
    }

    // Those who waited before the crash still come first.
    const inside = crowd.filter((visitor) => visitor.claims(url).state === 'admitted');
    const waiting = crowd.filter((visitor) => visitor.claims(url).state === 'waiting');
    waiting.sort((one, other) => one.claims(url).sub - other.claims(url).sub);
    await inside[0].leave(url);
    const first = waiting[0];
    await until('the first in line is in', async () => (await first.poll(url)).state === 'admitted');
    const last = waiting.at(-1);
    assert.notEqual((await last.poll(url)).state, 'admitted');
  });
}

test('who left stays out, and the limit on entries per minute outlives the crash', async () => {
  const url = 'http://paced.test/';
  const visitors = Array.from({ length: 20 }, () => new Visitor(server));
  await Promise.all(visitors.map((visitor) => visitor.open(url)));
  const inside = visitors.filter((visitor) => visitor.claims(url)?.state === 'admitted');
  assert.equal(inside.length, 20);
  const kept = inside[0].copy();
  await inside[0].leave(url);
  await server.kill9();
  await server.restart();
  const next = new Visitor(server);
  assert.equal((await next.open(url)).state, 'joining', 'twenty have entered within the minute');
  await until('the pass that was given back is refused', async () => (await kept.open(url)).state !== undefined, { within: 5_000 });
});
