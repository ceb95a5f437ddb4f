// A session that is ended at one edge is over at every other: two Workers with isolates of their own
// stand before the same rooms, which have one place each. Whose pass is over comes like anybody new, so
// the place is another's before the copy is shown.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Visitor, ask } from './harness/client.mjs';
import { ANTEROOM_API, Operator } from './harness/operator.mjs';
import { stage } from './harness/stage.mjs';
import { until } from './harness/until.mjs';

const { origin, server } = await stage({ isolates: 2, vars: { ANTEROOM_API } });
const operator = new Operator(server);
const [here, there] = server.ports;

/** Somebody inside, as soon as there is a place. */
async function inside(url) {
  const visitor = new Visitor(server);
  await until('somebody is in', async () => (await visitor.open(url)).text === 'the site');
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
  assert.equal((await show(there, url, cookie)).text, 'the site', 'a pass is good at both');
  await visitor.open(`${url}end`);
  await inside(url);
  await refused(there, url, cookie);
  await refused(here, url, cookie);
});

test('an edge that knows nothing of the room yet asks before it lets a pass through', async () => {
  const url = 'http://revoked-unseen.test/';
  origin.on('/end', { headers: ['Cf-Waiting-Room-Command', 'revoke'] });
  const { visitor, cookie } = await inside(url);
  await visitor.open(`${url}end`);
  await inside(url);
  const first = await show(there, url, cookie);
  assert.notEqual(first.state, undefined, 'the first request already is refused');
});

test('a pass whose visitor has left is refused at the other edge', async () => {
  const url = 'http://unrevoked.test/';
  const { visitor, cookie } = await inside(url);
  assert.equal((await show(there, url, cookie)).text, 'the site');
  await visitor.leave(url);
  await inside(url);
  await refused(there, url, cookie);
});

test('an operator ends a session by its number', async () => {
  const url = 'http://one-1.test/';
  const { cookie, number, room } = await inside(url);
  assert.equal((await show(there, url, cookie)).text, 'the site');
  const of = (kind, value) => `/waiting_rooms/${room}/${kind}/${value}`;
  assert.equal((await operator.call('GET', of('places', number))).state, 'active');
  for (const time of ['once', 'twice']) {
    assert.deepEqual(await operator.call('DELETE', of('sessions', number)), { id: String(number) }, time);
  }
  assert.equal((await operator.call('GET', of('places', number))).state, 'over');
  assert.equal((await operator.ask('DELETE', of('sessions', number + 1_000))).status, 404, 'never given');
  await inside(url);
  await refused(there, url, cookie);
  await refused(here, url, cookie);
});
