// What the origin is told, and what the operator is told when a secret is missing.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';

import { NAVIGATE, Visitor, ask, claims } from './harness/client.mjs';
import { stage } from './harness/stage.mjs';
import { ORIGIN_SECRET, PASS_SECRET, Workerd } from './harness/workerd.mjs';

const { origin, server } = await stage();

/** The one request that `send` makes reach the origin. */
async function arriving(send) {
  origin.requests.length = 0;
  await send();
  assert.equal(origin.requests.length, 1);
  return origin.requests[0];
}

function isSignedWith(secret, token) {
  const [header, payload, signature] = token.split('.');
  return createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url') === signature;
}

test('the cookie goes to the origin unless the room strips it', async () => {
  for (const [host, stripped] of [['walk.test', false], ['stripped.test', true]]) {
    const url = `http://${host}/`;
    const visitor = new Visitor(server);
    await visitor.open(url);
    const cookie = `a=1; ${visitor.cookie(url)}; b="2"`;
    const request = await arriving(() => ask(server.port, { host, headers: { Cookie: cookie } }));
    assert.equal(request.header('cookie'), stripped ? 'a=1; b="2"' : cookie);
    const alone = await arriving(() => visitor.open(url));
    assert.equal(alone.header('cookie'), stripped ? undefined : visitor.cookie(url));
  }
});

test('the assertion tells the origin who was admitted, in a way it can verify', async () => {
  const url = 'http://asserted.test/';
  const visitor = new Visitor(server);
  for (const when of ['first', 'later']) {
    const request = await arriving(() => visitor.open(url));
    const assertion = request.header('anteroom-assertion');
    assert.ok(isSignedWith(ORIGIN_SECRET, assertion), when);
    assert.ok(!isSignedWith(PASS_SECRET, assertion), 'not with the key of passes');
    const { iss, aud, sub, room, iat, exp } = claims(assertion);
    assert.deepEqual({ iss, aud, room }, { iss: 'anteroom', aud: 'origin', room: 'asserted' });
    assert.equal(sub, visitor.claims(url).sub);
    assert.equal(exp - iat, 60);
    assert.ok(Math.abs(iat - Date.now() / 1000) < 10);
  }
});

test('a client never sets the assertion itself', async () => {
  for (const host of ['asserted.test', 'walk.test', 'off.test', 'elsewhere.test']) {
    const visitor = new Visitor(server, { 'Anteroom-Assertion': 'forged', 'ANTEROOM-ASSERTION': 'forged' });
    for (const when of ['newcomer', 'admitted']) {
      const request = await arriving(() => visitor.open(`http://${host}/`));
      assert.doesNotMatch(request.header('anteroom-assertion') ?? '', /forged/, `${host} ${when}`);
    }
    const options = await arriving(() => visitor.open(`http://${host}/`, { method: 'OPTIONS', headers: {} }));
    assert.doesNotMatch(options.header('anteroom-assertion') ?? '', /forged/, `${host} OPTIONS`);
  }
});

test('without the secret a covered URL says what is missing, and uncovered ones work', async () => {
  for (const [keys, said] of [
    [null, /the secret ANTEROOM_KEYS is not set/],
    ['', /ANTEROOM_KEYS/],
    ['k1:short', /ANTEROOM_KEYS/],
  ]) {
    const broken = await Workerd.start(origin, { vars: { ANTEROOM_KEYS: keys } });
    try {
      origin.requests.length = 0;
      const covered = await ask(broken.port, { host: 'walk.test', headers: NAVIGATE });
      assert.equal(covered.status, 503);
      assert.equal(covered.state, 'error');
      assert.equal(covered.headers['cache-control'], 'no-store');
      assert.match(covered.text, said);
      assert.doesNotMatch(covered.text, /short/, 'the secret itself is not shown');
      assert.equal(origin.requests.length, 0);
      for (const host of ['elsewhere.test', 'off.test']) {
        assert.equal((await ask(broken.port, { host, headers: NAVIGATE })).text, 'the site', host);
      }
    } finally {
      await broken.stop();
    }
  }
});

test('an origin that cannot be reached costs a newcomer an error and not the place', async () => {
  const url = 'http://one-1.test/down';
  origin.on('/down', (request) => request.socket.destroy());
  const visitor = new Visitor(server);
  const response = await visitor.open(url);
  assert.equal(response.status, 502);
  assert.equal(response.state, 'error');
  assert.equal(visitor.claims(url)?.state, 'admitted', 'the only place is theirs');
  origin.on('/down', {});
  assert.equal((await visitor.open(url)).text, 'the site');
});
