// Getting in, waiting, leaving: the paths of a visitor.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NAVIGATE, PROGRAM, Visitor, ask, claims, ours, parsed } from './harness/client.mjs';
import { stage } from './harness/stage.mjs';
import { until } from './harness/until.mjs';

const { origin, server } = await stage();

/** A visitor who has taken the one place of a room. */
async function occupant(url) {
  const visitor = new Visitor(server);
  const response = await visitor.open(url);
  assert.equal(response.state, undefined, 'the origin answers');
  assert.equal(visitor.claims(url).state, 'admitted');
  return visitor;
}

test('a newcomer is let in with one cookie of ours beside the origin’s own', async () => {
  origin.on('/several', {
    headers: [
      'Set-Cookie', 'basket=1; Path=/',
      'Set-Cookie', 'lang=de; Expires=Wed, 09 Jun 2100 10:18:14 GMT',
      'Cache-Control', 'public, max-age=60, s-maxage=600',
      'CDN-Cache-Control', 'max-age=600',
      'Cloudflare-CDN-Cache-Control', 'max-age=600',
      'Surrogate-Control', 'max-age=600',
    ],
  });
  const response = await ask(server.port, { host: 'walk.test', path: '/several', headers: NAVIGATE });
  assert.equal(response.status, 200);
  assert.equal(response.text, 'the site');
  assert.deepEqual(response.setCookies.slice(0, 2), [
    'basket=1; Path=/',
    'lang=de; Expires=Wed, 09 Jun 2100 10:18:14 GMT',
  ]);
  assert.equal(response.setCookies.length, 3);
  const cookie = parsed(response.setCookies[2]);
  assert.equal(cookie.name, '__cfwaitingroom');
  assert.equal(claims(cookie.value).state, 'admitted');
  assert.equal(cookie.httponly, true);
  assert.equal(cookie.path, '/');
  assert.equal(cookie.samesite, 'Lax');
  assert.match(cookie['max-age'], /^(299|300)$/);
  assert.equal(response.headers['cache-control'], 'private, max-age=60');
  for (const name of ['cdn-cache-control', 'cloudflare-cdn-cache-control', 'surrogate-control']) {
    assert.equal(response.headers[name], undefined, name);
  }
  assert.equal(origin.seen('/several', 'walk.test').length, 1);
});

test('over https the cookie is Secure and SameSite=None, in a foreign frame Partitioned', async () => {
  const secure = { ...NAVIGATE, 'X-Forwarded-Proto': 'https' };
  const plain = await ask(server.port, { host: 'walk.test', headers: secure });
  const [cookie] = ours(plain);
  assert.equal(cookie.secure, true);
  assert.equal(cookie.samesite, 'None');
  assert.equal(cookie.partitioned, undefined);
  const framed = { ...secure, 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'iframe' };
  const [partitioned] = ours(await ask(server.port, { host: 'walk.test', headers: framed }));
  assert.equal(partitioned.partitioned, true);
});

test('who comes to a full room gets a ticket without a number first, and the number on return', async () => {
  const url = 'http://one-1.test/';
  await occupant(url);
  const visitor = new Visitor(server);
  const first = await visitor.open(url);
  assert.equal(first.state, 'joining');
  assert.equal(first.status, 200);
  assert.equal(first.headers['retry-after'], '2');
  assert.equal(first.headers.refresh, '2');
  assert.equal(visitor.claims(url).state, 'ticket');
  assert.match(visitor.claims(url).sub, /^[0-9a-f]{16}$/);

  const second = await visitor.open(url);
  assert.equal(second.state, 'queueing');
  assert.equal(visitor.claims(url).state, 'waiting');
  assert.equal(visitor.claims(url).sub, '2');
  assert.equal(second.headers['cache-control'], 'no-store');
  assert.equal(second.headers['x-robots-tag'], 'noindex');
  assert.match(second.headers['content-security-policy'], /default-src 'none'/);
});

test('the same first ticket sent a hundred times at once gets one number', async () => {
  const url = 'http://one-2.test/';
  await occupant(url);
  const visitor = new Visitor(server);
  await visitor.open(url);
  const copies = Array.from({ length: 100 }, () => visitor.copy());
  await Promise.all(copies.map((copy) => copy.open(url)));
  const numbers = new Set(copies.map((copy) => copy.claims(url).sub));
  assert.deepEqual([...numbers], ['2']);
  const next = new Visitor(server);
  await next.queue(url);
  assert.equal(next.claims(url).sub, '3', 'no number was used up');
});

test('a client that keeps no cookie uses up no number', async () => {
  const url = 'http://one-3.test/';
  await occupant(url);
  for (let i = 0; i < 20; i++) {
    const response = await ask(server.port, { host: 'one-3.test', headers: NAVIGATE });
    assert.equal(response.state, 'joining');
  }
  const visitor = new Visitor(server);
  await visitor.queue(url);
  assert.equal(visitor.claims(url).sub, '2');
});

test('a poll tells the place, and an early one changes no token', async () => {
  const url = 'http://one-4.test/';
  await occupant(url);
  const visitor = new Visitor(server);
  await visitor.queue(url);
  const before = visitor.token(url);
  const poll = await visitor.poll(url);
  assert.equal(poll.headers['content-type'], 'application/json');
  const { cfWaitingRoom: room } = poll.json();
  assert.equal(room.inWaitingRoom, true);
  assert.equal(room.admitted, false);
  assert.equal(room.position, 1);
  assert.equal(room.usersAhead, 0);
  assert.equal(room.refreshIntervalSeconds, 2);
  assert.equal(room.leaveUrl, '/.anteroom/leave');

  const again = await visitor.poll(url);
  assert.deepEqual(again.setCookies, []);
  assert.equal(again.json().cfWaitingRoom.lastUpdated, room.lastUpdated);
  assert.equal(visitor.token(url), before);
});

test('when the visitor inside leaves, the one who waits gets in with the next poll that counts', async () => {
  const url = 'http://one-5.test/';
  const inside = await occupant(url);
  const waiting = new Visitor(server);
  await waiting.queue(url);
  const left = await inside.leave(url);
  assert.equal(left.status, 200);
  assert.equal(left.state, 'left');
  assert.equal(inside.token(url), undefined, 'the cookie is gone');
  assert.equal(origin.seen('/.anteroom/leave').length, 0);

  const called = await until('the waiter is let in', async () => {
    const poll = await waiting.poll(url);
    return poll.json().cfWaitingRoom.admitted && poll;
  });
  assert.equal(called.state, 'admitted');
  assert.equal(waiting.claims(url).state, 'admitted');
  assert.equal(waiting.claims(url).sub, '2', 'with the number that waited');
  const opened = await waiting.open(url);
  assert.equal(opened.state, undefined);
  assert.equal((await inside.open(url)).state, 'joining', 'who left queues again');
});

test('a pass that was given back opens nothing any more', async () => {
  const url = 'http://one-6.test/';
  const inside = await occupant(url);
  const kept = inside.copy();
  await inside.leave(url);
  const refused = await kept.open(url);
  // The place was free, so the bearer comes in as somebody new, and not on the old number.
  assert.equal(refused.state, undefined);
  assert.equal(kept.claims(url).sub, '2');
});

test('a poll on a pass is answered at the edge and never forwarded', async () => {
  const url = 'http://walk.test/once-only-link';
  const visitor = new Visitor(server);
  const first = await visitor.poll(url);
  assert.equal(first.json().cfWaitingRoom.admitted, true);
  assert.equal(visitor.claims(url).state, 'admitted');
  const second = await visitor.poll(url);
  assert.equal(second.state, 'admitted');
  assert.equal(second.json().cfWaitingRoom.admitted, true);
  assert.equal(origin.seen('/once-only-link').length, 0);
  assert.equal((await visitor.open(url)).text, 'the site');
  assert.equal(origin.seen('/once-only-link').length, 1);
});

test('two tabs share one place', async () => {
  const url = 'http://one-7.test/';
  const inside = await occupant(url);
  const tab = new Visitor(server);
  await tab.queue(url);
  // The other tab opens with the same jar; what one sets, the other sends.
  await tab.open(`${url}other`);
  const other = tab.copy();
  await Promise.all([tab.poll(url), other.poll(url)]);
  assert.equal(tab.claims(url).sub, '2');
  assert.equal(other.claims(url).sub, '2');
  await inside.leave(url);
  await until('both tabs are in', async () => {
    const polls = await Promise.all([tab.poll(url), other.poll(url)]);
    return polls.every((poll) => poll.json().cfWaitingRoom.admitted);
  });
  assert.equal(tab.claims(url).sub, '2');
  assert.equal(other.claims(url).sub, '2');
  const third = new Visitor(server);
  assert.equal((await third.open(url)).state, 'joining', 'they hold one slot');
  await tab.leave(url);
  const fourth = new Visitor(server);
  assert.equal((await fourth.open(url)).state, undefined, 'and it is free again after one leaves');
});

test('a kept copy of a waiting token that was spent gets a new number', async () => {
  const url = 'http://one-8.test/';
  const inside = await occupant(url);
  const visitor = new Visitor(server);
  await visitor.queue(url);
  const copy = visitor.copy();
  await inside.leave(url);
  await until('the waiter is in', async () => (await visitor.poll(url)).state === 'admitted');
  await visitor.leave(url);
  await occupant(url);
  const replayed = await until('the copy may ask the room', async () => {
    const poll = await copy.poll(url);
    return poll.setCookies.length > 0 && copy.claims(url).sub !== '2' && poll;
  });
  assert.equal(replayed.json().cfWaitingRoom.admitted, false);
  assert.equal(copy.claims(url).state, 'waiting');
  assert.equal(copy.claims(url).sub, '4', 'behind everybody');
});

test('a waiter who leaves gives the place up and is not counted as ahead', async () => {
  const url = 'http://one-9.test/';
  await occupant(url);
  const [second, third] = [new Visitor(server), new Visitor(server)];
  await second.queue(url);
  await third.queue(url);
  assert.equal((await third.poll(url)).json().cfWaitingRoom.usersAhead, 1);
  await second.leave(url);
  await until('the place of who left is gone', async () => {
    const { cfWaitingRoom: room } = (await third.poll(url)).json();
    return room.usersAhead === 0;
  });
});

test('a program that prefers JSON gets it, a browser the page', async () => {
  const url = 'http://one-10.test/';
  await occupant(url);
  const program = await ask(server.port, { host: 'one-10.test', headers: PROGRAM });
  assert.equal(program.json().cfWaitingRoom.inWaitingRoom, true);
  const both = { Accept: 'application/json, */*' };
  assert.equal((await ask(server.port, { host: 'one-10.test', headers: both })).json().cfWaitingRoom.queueingMethod, 'fifo');
  const browser = await ask(server.port, { host: 'one-10.test', headers: NAVIGATE });
  assert.match(browser.headers['content-type'], /^text\/html/);
  await occupant('http://plain.test/');
  const plain = await ask(server.port, { host: 'plain.test', headers: PROGRAM });
  assert.match(plain.headers['content-type'], /^text\/html/, 'a room without json_response_enabled');
});
