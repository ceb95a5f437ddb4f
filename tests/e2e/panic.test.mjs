// A Worker that panics on purpose: it costs the request that did it, and nobody else anything.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NAVIGATE, Visitor, ask } from './harness/client.mjs';
import { stage } from './harness/stage.mjs';
import { until } from './harness/until.mjs';

const { origin, server } = await stage();

/** A request that panics at a place; it may fail, it must not hang. */
function panic(host, at) {
  return ask(server.port, { host, headers: { ...NAVIGATE, 'Anteroom-Plant': at } }).catch((error) => error);
}

test('a panic in a request: those in flight beside it finish, and the next ones work', async () => {
  const url = 'http://panic.test/';
  const visitor = new Visitor(server);
  await visitor.open(url);
  const release = origin.hold('/held');
  const admitted = visitor.open(`${url}held`);
  const newcomer = new Visitor(server).open(`${url}held`);
  await until('both are in flight', () => origin.seen('/held').length === 2);
  for (let i = 0; i < 5; i++) {
    const failed = await panic('panic.test', 'look');
    assert.ok(failed instanceof Error || failed.status >= 500, 'the planted request fails');
  }
  const between = await new Visitor(server).open(url);
  assert.equal(between.text, 'the site');
  release();
  assert.equal((await admitted).text, 'the site');
  assert.equal((await newcomer).text, 'the site');
  assert.equal((await visitor.open(url)).text, 'the site');
});

for (const at of ['object', 'batch']) {
  test(`a panic in the room’s ${at}: its other callers get their answers, and nothing is lost`, async () => {
    const url = 'http://panic.test/';
    const before = new Visitor(server);
    await before.open(url);
    const visitors = Array.from({ length: 40 }, () => new Visitor(server));
    const calls = visitors.map((visitor, i) =>
      i % 10 === 5 ? Promise.all([visitor.open(url), panic('panic.test', at)]) : visitor.open(url),
    );
    await Promise.all(calls);
    for (const visitor of visitors) {
      const response = await visitor.open(url);
      assert.equal(response.text, 'the site');
    }
    const numbers = visitors.map((visitor) => visitor.claims(url));
    assert.ok(numbers.every((held) => held?.state === 'admitted'));
    assert.equal(new Set(numbers.map((held) => held.sub)).size, 40, 'no number twice');
    assert.equal((await before.open(url)).text, 'the site', 'a pass from before is still good');
    assert.ok(!numbers.some((held) => held.sub === before.claims(url).sub));
    const other = new Visitor(server);
    assert.equal((await other.open('http://panic-other.test/')).text, 'the site', 'other rooms know nothing of it');
  });
}

test('a trap, from which nothing unwinds: the next request finds a new instance, and nothing is lost', async () => {
  const url = 'http://panic.test/';
  const before = new Visitor(server);
  await before.open(url);
  for (let i = 0; i < 2; i++) {
    const failed = await panic('panic.test', 'trap');
    assert.ok(failed instanceof Error || failed.status >= 500, 'the planted request fails');
    assert.equal((await before.open(url)).text, 'the site', 'a pass from before is still good');
    const after = new Visitor(server);
    assert.equal((await after.open(url)).text, 'the site');
    assert.equal(after.claims(url).state, 'admitted');
    assert.notEqual(after.claims(url).sub, before.claims(url).sub);
  }
});
