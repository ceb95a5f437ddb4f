// How a session goes on and how it ends.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NAVIGATE, Visitor, ask, claims, ours } from './harness/client.mjs';
import { stage } from './harness/stage.mjs';
import { until } from './harness/until.mjs';

const { origin, server } = await stage();

/** A visitor who is inside. */
async function inside(url) {
  const visitor = new Visitor(server);
  assert.equal((await visitor.open(url)).state, undefined);
  return visitor;
}

/** Until the clock says that a renewal of the visitor's pass is due. */
function renewalIsDue(visitor, url) {
  const { iat, exp } = visitor.claims(url);
  // A pass says whole seconds, rounded down.
  const due = (iat + (exp - iat) / 4 + 1) * 1000;
  return until('a renewal is due', () => Date.now() > due);
}

test('past a quarter of the session the pass is renewed, and not before', async () => {
  const url = 'http://renewed.test/';
  const visitor = await inside(url);
  const first = visitor.claims(url);
  // Two clocks, each rounded down to the second.
  assert.ok([8, 9].includes(first.exp - first.iat));
  assert.deepEqual((await visitor.open(url)).setCookies, [], 'too early');
  await renewalIsDue(visitor, url);
  const response = await visitor.open(url);
  assert.equal(response.text, 'the site');
  const renewed = visitor.claims(url);
  assert.equal(ours(response).length, 1);
  assert.equal(renewed.sub, first.sub);
  assert.ok(renewed.exp > first.exp, 'it lives longer');
  assert.equal(response.headers['cache-control'], 'private');
  assert.deepEqual((await visitor.open(url)).setCookies, [], 'once');
});

test('two hundred renewals of one pass at once change no count and no other session', async () => {
  const url = 'http://storm.test/';
  const [visitor, other] = [await inside(url), await inside(url)];
  const otherPass = other.token(url);
  await renewalIsDue(visitor, url);
  const copies = Array.from({ length: 200 }, () => visitor.copy());
  const responses = await Promise.all(copies.map((copy) => copy.open(url)));
  assert.ok(responses.every((response) => response.text === 'the site'));
  assert.ok(responses.some((response) => ours(response).length === 1), 'it was renewed');
  assert.deepEqual([...new Set(copies.map((copy) => copy.claims(url).sub))], [visitor.claims(url).sub]);

  assert.equal(other.token(url), otherPass);
  assert.equal((await ask(server.port, { host: 'storm.test', headers: { Cookie: other.cookie(url) } })).state, undefined);
  assert.equal((await new Visitor(server).open(url)).state, 'joining', 'both places are still taken');
  await other.leave(url);
  await inside(url);
  assert.equal((await new Visitor(server).open(url)).state, 'joining', 'and one place was freed, no more');
});

test('a slow answer in one tab never overwrites the newer pass of another', async () => {
  const url = 'http://tabs.test/';
  const browser = await inside(url);
  const first = browser.claims(url);
  await renewalIsDue(browser, url);
  const release = origin.hold('/slow');
  const slow = browser.open(`${url}slow`);
  await until('the origin holds the slow page', () => origin.holds('/slow'));
  // The other tab goes on with the old pass, later; its renewal reaches further.
  const newer = await until('the other tab has a renewal that reaches further', async () => {
    await browser.open(url);
    const pass = browser.claims(url);
    return pass.exp >= first.exp + 4 && pass;
  });
  release();
  const response = await slow;
  assert.equal(response.text, 'the site');
  for (const cookie of ours(response)) {
    assert.ok(claims(cookie.value).exp >= newer.exp, 'the slow answer brings nothing older');
  }
  assert.ok(browser.claims(url).exp >= newer.exp);
});

test('a session that is not to be renewed ends at its time', async () => {
  const url = 'http://fixed.test/';
  const visitor = await inside(url);
  const { sub, exp } = visitor.claims(url);
  const cookie = visitor.cookie(url);
  const next = await until('the session is over', async () => {
    const response = await ask(server.port, { host: 'fixed.test', headers: { ...NAVIGATE, Cookie: cookie } });
    const [given] = ours(response);
    if (!given) assert.ok(Date.now() < (exp + 1) * 1000, 'it lasts no longer');
    return given;
  });
  assert.ok(Date.now() >= exp * 1000, 'nor less');
  assert.notEqual(claims(next.value).sub, sub, 'the bearer is somebody new');
});

test('whose session is over is told so and queues, and the place is free after a moment', async () => {
  const url = 'http://brief.test/';
  const visitor = await inside(url);
  const cookie = visitor.cookie(url);
  const { exp } = visitor.claims(url);
  await until('the session is over', () => Date.now() > exp * 1000);
  const over = await ask(server.port, { host: 'brief.test', headers: { ...NAVIGATE, Cookie: cookie } });
  assert.equal(over.state, 'joining');
  assert.match(over.text, /Your earlier visit has ended/);
  const next = new Visitor(server);
  await until('the next one gets in', async () => (await next.open(url)).state === undefined);
});

test('the origin ends a session: the place is free at once and the pass is worth nothing', async () => {
  const url = 'http://revoked.test/';
  origin.on('/checkout', { headers: ['Cf-Waiting-Room-Command', 'revoke', 'Set-Cookie', 'own=1'], body: 'thank you' });
  origin.on('/other', { headers: ['Cf-Waiting-Room-Command', 'dance'] });
  const visitor = await inside(url);
  const other = await visitor.open(`${url}other`);
  assert.equal(other.headers['cf-waiting-room-command'], undefined, 'an unknown order goes no further');
  assert.deepEqual(other.setCookies, []);
  const waiting = new Visitor(server);
  await waiting.queue(url);
  const copy = visitor.copy();
  const response = await visitor.open(`${url}checkout`);
  assert.equal(response.text, 'thank you');
  assert.equal(response.headers['cf-waiting-room-command'], undefined, 'the order is not passed on');
  assert.equal(response.setCookies[0], 'own=1');
  assert.equal(ours(response)[0].value, '');
  assert.equal(ours(response)[0]['max-age'], '0');
  assert.equal(visitor.token(url), undefined);

  const refused = await until('the copy is refused', async () => {
    const answer = await copy.open(url);
    return answer.state && answer;
  }, { within: 3_000 });
  assert.match(refused.text, /Your earlier visit has ended/);
  await until('who waited is in', async () => (await waiting.poll(url)).state === 'admitted');
});

test('without enabled_origin_commands the field is the origin’s own business', async () => {
  const url = 'http://unrevoked.test/';
  origin.on('/checkout', { headers: ['Cf-Waiting-Room-Command', 'revoke'] });
  const visitor = await inside(url);
  const pass = visitor.token(url);
  const response = await visitor.open(`${url}checkout`);
  assert.equal(response.headers['cf-waiting-room-command'], 'revoke');
  assert.deepEqual(response.setCookies, []);
  assert.equal(visitor.token(url), pass);
  assert.equal((await visitor.open(url)).state, undefined);
});
