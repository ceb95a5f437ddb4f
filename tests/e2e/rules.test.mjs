// Bypass rules: who passes by a room leaves no cookie, no count and no header field; others meet the room.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NAVIGATE, PROGRAM, Visitor, ask } from './harness/client.mjs';
import { stage } from './harness/stage.mjs';

const { origin, server } = await stage();

const HOST = 'bypassed.test';
const cf = (properties) => ({ 'Test-Cf': JSON.stringify(properties) });

/** Asks, and says whether the origin has answered. */
async function passes(options) {
  origin.requests.length = 0;
  const response = await ask(server.port, { host: HOST, headers: NAVIGATE, ...options });
  const passed = response.state === undefined;
  assert.equal(origin.requests.length, passed ? 1 : 0);
  if (passed) {
    assert.deepEqual(response.setCookies, []);
    assert.equal(Object.keys(response.headers).filter((name) => name.startsWith('anteroom')).length, 0);
  } else {
    assert.equal(response.state, 'rejecting');
  }
  return passed;
}

for (const [what, options, expected] of [
  ['nothing', {}, false],
  ['a path', { path: '/static/app.js' }, true],
  ['another path', { path: '/staticky/app.js' }, false],
  ['a listed address', { headers: { 'CF-Connecting-IP': '192.0.2.77' } }, true],
  ['a listed address of IPv6', { headers: { 'CF-Connecting-IP': '2001:db8:9::1' } }, true],
  ['another address', { headers: { 'CF-Connecting-IP': '198.51.100.1' } }, false],
  ['a country', { headers: cf({ country: 'CH' }) }, true],
  ['another country', { headers: cf({ country: 'LI' }) }, false],
  ['a header field', { headers: { 'X-Monitor': 'please' } }, true],
  ['another value', { headers: { 'X-Monitor': 'Please' } }, false],
  ['an argument', { path: '/?preview=0&preview=1' }, true],
  ['another argument', { path: '/?previews=1' }, false],
  ['a field that must not be there', { path: '/?preview=1', headers: { 'X-No': '' } }, false],
  ['a verified crawler', { headers: cf({ verifiedBotCategory: 'Search Engine Crawler' }) }, true],
  ['another verified bot', { headers: cf({ verifiedBotCategory: 'Page Preview' }) }, false],
]) {
  test(`${what} ${expected ? 'passes by' : 'meets the room'}`, async () => {
    assert.equal(await passes(options), expected);
  });
}

test('every method passes by, with its body, and keeps what the client sent', async () => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const headers = ['X-Twice', 'one', 'X-Twice', 'two', 'Cookie', '__cfwaitingroom=junk; own=1', 'Accept', 'application/json'];
    const body = ['POST', 'PUT'].includes(method) ? Buffer.from('order') : undefined;
    assert.ok(await passes({ path: '/static/x?a=1', method, headers, body }), method);
    const [request] = origin.requests;
    assert.equal(request.method, method);
    assert.equal(request.url, '/static/x?a=1');
    assert.equal(request.header('cookie'), '__cfwaitingroom=junk; own=1');
    if (body) assert.ok(request.body.equals(body));
  }
});

test('the answer comes back as it is, several cookies of its own included', async () => {
  origin.on('/static/own', (request, response) => {
    response.writeHead(203, [
      ['Set-Cookie', 'a=1'], ['Set-Cookie', 'b=2'], ['Cache-Control', 'public, max-age=60'],
      ['Cf-Waiting-Room-Command', 'revoke'],
    ].flat());
    response.end('own');
  });
  const response = await ask(server.port, { host: HOST, path: '/static/own', headers: NAVIGATE });
  assert.equal(response.status, 203);
  assert.equal(response.text, 'own');
  assert.deepEqual(response.setCookies, ['a=1', 'b=2']);
  assert.equal(response.headers['cache-control'], 'public, max-age=60');
  // The room does not hear it: the field goes through like any other.
  assert.equal(response.headers['cf-waiting-room-command'], 'revoke');
});

test('a statement that only anteroom may make is removed', async () => {
  assert.ok(await passes({ path: '/static/x', headers: { 'Anteroom-Assertion': 'forged' } }));
  assert.equal(origin.requests[0].header('anteroom-assertion'), undefined);
});

test('who passes by takes no place', async () => {
  const url = 'http://bypassed-one.test/';
  const by = { 'X-Monitor': 'please' };
  for (let i = 0; i < 5; i++) {
    for (const headers of [NAVIGATE, PROGRAM]) {
      const response = await new Visitor(server).open(url, { headers: { ...headers, ...by } });
      assert.equal(response.text, 'the site');
      assert.deepEqual(response.setCookies, []);
    }
  }
  // The one place is free.
  const first = new Visitor(server);
  assert.equal((await first.open(url)).text, 'the site');
  const second = new Visitor(server);
  assert.equal((await second.open(url)).state, 'joining');

  // Somebody who waits and may now pass by: the page is called in, and its cookie is left alone.
  origin.requests.length = 0;
  const poll = await second.open(url, { headers: { 'Anteroom-Poll': '1', ...by } });
  assert.equal(poll.state, 'admitted');
  assert.equal(poll.json().cfWaitingRoom.admitted, true);
  assert.deepEqual(poll.setCookies, []);
  assert.equal(origin.requests.length, 0);
  const entered = await second.open(url, { headers: { ...NAVIGATE, ...by } });
  assert.equal(entered.text, 'the site');
  assert.deepEqual(entered.setCookies, []);

  // Leaving is the room's own, whoever asks.
  const left = await ask(server.port, {
    host: 'bypassed-one.test', path: '/.anteroom/leave', method: 'POST',
    headers: { ...NAVIGATE, 'Sec-Fetch-Site': 'same-origin', ...by },
  });
  assert.notEqual(left.state, undefined);
  assert.equal(origin.requests.length, 1);
});
