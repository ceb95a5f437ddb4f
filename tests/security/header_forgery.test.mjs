// Attack: send the header fields by which anteroom, the platform and the origin talk to each other.
//
// Defence: what arrives under Anteroom-Assertion is removed (src/worker/forward.rs and edge.rs); a
// pass that is bound to a network goes by CF-Connecting-IP alone, which the platform sets
// (src/worker/edge.rs); no other field of the request says anything about whom to let in.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NAVIGATE, Visitor, ask, ours } from '../e2e/harness/client.mjs';
import { stage } from '../e2e/harness/stage.mjs';

const { origin, server } = await stage();

test('no field of ours or of the platform’s lets a newcomer in or forges a statement', async () => {
  const url = 'http://one-1.test/';
  const visitor = new Visitor(server);
  await visitor.open(url);
  const forged = {
    'Anteroom-Status': 'admitted',
    'Anteroom-Assertion': 'forged',
    'Anteroom-Poll': '0',
    'Anteroom-Admitted': '1',
    'Cf-Waiting-Room-Command': 'revoke',
    'Cf-Waiting-Room': 'admitted',
    'X-Forwarded-For': '127.0.0.1',
    'X-Forwarded-Host': 'elsewhere.test',
    'X-Real-IP': '127.0.0.1',
    'True-Client-IP': '127.0.0.1',
    'CF-Worker': 'anteroom',
    'CF-Visitor': '{"scheme":"https"}',
    Forwarded: 'for=127.0.0.1;host=elsewhere.test',
    Via: '1.1 anteroom',
  };
  origin.requests.length = 0;
  const refused = await ask(server.port, { host: 'one-1.test', headers: { ...NAVIGATE, ...forged } });
  assert.equal(refused.state, 'joining');
  assert.equal(origin.requests.length, 0);

  // On a pass they do no harm: the session goes on, and the origin gets no statement of a stranger's.
  const admitted = await visitor.open(url, { headers: { ...NAVIGATE, ...forged } });
  assert.equal(admitted.text, 'the site');
  assert.deepEqual(admitted.setCookies, []);
  assert.equal(origin.requests[0].header('anteroom-assertion'), undefined);
  assert.equal((await visitor.open(url)).state, undefined);
});

for (const host of ['asserted.test', 'walk.test', 'stripped.test', 'off.test', 'elsewhere.test']) {
  test(`the origin behind ${host} gets no forged assertion`, async () => {
    const url = `http://${host}/`;
    const forgery = ['Anteroom-Assertion', 'forged', 'anteroom-assertion', 'forged too'];
    const visitor = new Visitor(server);
    origin.requests.length = 0;
    await ask(server.port, { host, headers: [...Object.entries(NAVIGATE).flat(), ...forgery] });
    await ask(server.port, { host, method: 'OPTIONS', headers: forgery });
    await ask(server.port, { host, method: 'HEAD', headers: forgery });
    await visitor.open(url);
    const cookie = visitor.cookie(url) || 'a=1';
    await ask(server.port, { host, headers: [...forgery, 'Cookie', cookie] });
    assert.equal(origin.requests.length, 5);
    for (const request of origin.requests) {
      assert.doesNotMatch(request.rawHeaders.join('\n'), /forged/);
    }
  });
}

test('a network is what the platform says, not what the client says', async () => {
  const url = 'http://bound-ip.test/';
  const visitor = new Visitor(server, { 'CF-Connecting-IP': '203.0.113.5' });
  await visitor.open(url);
  const show = (headers) =>
    ask(server.port, { host: 'bound-ip.test', headers: { ...NAVIGATE, Cookie: visitor.cookie(url), ...headers } });
  assert.deepEqual(ours(await show({ 'CF-Connecting-IP': '203.0.113.77' })), [], 'the same network');
  for (const name of ['X-Forwarded-For', 'X-Real-IP', 'True-Client-IP', 'CF-Connecting-IPv6', 'Fastly-Client-IP']) {
    const stolen = await show({ 'CF-Connecting-IP': '198.51.100.1', [name]: '203.0.113.5' });
    assert.equal(ours(stolen).length, 1, `${name}: somebody else, with a place of their own`);
  }
  const forwarded = await show({ 'CF-Connecting-IP': '198.51.100.1', Forwarded: 'for=203.0.113.5' });
  assert.equal(ours(forwarded).length, 1);
});

test('a foreign page cannot make itself look like ours to give a session away', async () => {
  const url = 'http://one-2.test/';
  const visitor = new Visitor(server);
  await visitor.open(url);
  for (const headers of [
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'http://evil.test', 'X-Forwarded-Host': 'evil.test' },
    { Origin: 'null' },
    { Origin: 'http://one-2.test.evil.test' },
    { Origin: 'http://one-2.test', 'Sec-Fetch-Site': 'cross-site' },
  ]) {
    const response = await visitor.open(`${url}.anteroom/leave`, { method: 'POST', headers });
    assert.equal(response.status, 403);
    assert.deepEqual(response.setCookies, []);
  }
  assert.equal((await visitor.open(url)).state, undefined);
  assert.equal((await new Visitor(server).open(url)).state, 'joining', 'the session holds its place');
});
