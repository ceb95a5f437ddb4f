// A session that is ended at one edge is over at every other: two Workers with isolates of their own
// stand before the same rooms.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Visitor, ask } from './harness/client.mjs';
import { ANTEROOM_API, Operator } from './harness/operator.mjs';
import { stage } from './harness/stage.mjs';
import { until } from './harness/until.mjs';

const { origin, server } = await stage({ isolates: 2, vars: { ANTEROOM_API } });
const operator = new Operator(server);

/** Somebody inside, and the room's id. */
async function inside(url) {
  const visitor = new Visitor(server);
  assert.equal((await visitor.open(url)).text, 'the site');
  const claims = visitor.claims(url);
  return { visitor, cookie: visitor.cookie(url), number: Number(claims.sub), room: claims.aud.split('.')[0] };
}

/** Shows a cookie at an edge. */
function show(port, url, cookie) {
  return ask(port, { host: new URL(url).host, headers: { Cookie: cookie, Accept: 'text/html' } });
}

/** Until the edge lets the cookie through no more. */
function refused(port, url, cookie) {
  return until('the pass is refused', async () => (await show(port, url, cookie)).state !== undefined, {
    within: 4_000,
  });
}

test('the origin ends a session at one edge, and the other refuses the copy within seconds', async () => {
  const url = 'http://revoked.test/';
  origin.on('/end', { headers: ['Cf-Waiting-Room-Command', 'revoke'] });
  const { visitor, cookie } = await inside(url);
  assert.equal((await show(server.ports[1], url, cookie)).text, 'the site', 'a pass is good at both');
  await visitor.open(`${url}end`);
  await refused(server.ports[1], url, cookie);
  await refused(server.port, url, cookie);
  const next = await inside(url);
  await next.visitor.open(`${url}end`);
});

test('an edge that knows nothing of the room yet asks before it lets a pass through', async () => {
  const url = 'http://revoked-unseen.test/';
  origin.on('/end', { headers: ['Cf-Waiting-Room-Command', 'revoke'] });
  const { visitor, cookie } = await inside(url);
  await visitor.open(`${url}end`);
  const first = await show(server.ports[1], url, cookie);
  assert.notEqual(first.state, undefined, 'the first request already is refused');
});

test('a pass whose visitor has left is refused at the other edge', async () => {
  const url = 'http://unrevoked.test/';
  const { visitor, cookie } = await inside(url);
  assert.equal((await show(server.ports[1], url, cookie)).text, 'the site');
  await visitor.leave(url);
  await refused(server.ports[1], url, cookie);
});

test('an operator ends a session by its number', async () => {
  const url = 'http://one-1.test/';
  const { cookie, number, room } = await inside(url);
  assert.equal((await show(server.ports[1], url, cookie)).text, 'the site');
  const of = (kind, value) => `/waiting_rooms/${room}/${kind}/${value}`;
  assert.equal((await operator.call('GET', of('places', number))).state, 'active');
  for (const time of ['once', 'twice']) {
    assert.deepEqual(await operator.call('DELETE', of('sessions', number)), { id: String(number) }, time);
  }
  assert.equal((await operator.call('GET', of('places', number))).state, 'over');
  assert.equal((await operator.ask('DELETE', of('sessions', number + 1_000))).status, 404, 'never given');
  await refused(server.ports[1], url, cookie);
  await refused(server.port, url, cookie);
  await inside(url);
});
