// Attack: make a shared cache keep a waiting page in the place of the site, or keep an answer that
// carries one visitor's pass and hand it to others.
//
// Defence: every answer of anteroom's says no-store (src/gate/answer.rs, src/worker/answer.rs), and an
// origin's answer that a cookie of ours joins becomes private and loses the fields that speak to
// shared caches (src/worker/forward.rs, src/origin/storage.rs).

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NAVIGATE, PROGRAM, Visitor, ask, connect, ours } from '../e2e/harness/client.mjs';
import { stage } from '../e2e/harness/stage.mjs';
import { until } from '../e2e/harness/until.mjs';

const { origin, server } = await stage();

test('nothing that anteroom says may be stored', async () => {
  for (const url of ['http://cors.test/', 'http://shop.test/shop', 'http://late.test/']) await new Visitor(server).open(url);
  const preflight = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT' };
  const requests = {
    page: { headers: NAVIGATE },
    'a page that looks like a picture': { path: '/logo.png', headers: { Accept: 'image/*', 'Sec-Fetch-Dest': 'image' } },
    'a page that looks like a style': { path: '/page/x.css', headers: NAVIGATE },
    'a conditional request': { headers: { ...NAVIGATE, 'If-None-Match': '*', 'If-Modified-Since': 'Wed, 09 Jun 2100 10:18:14 GMT' } },
    JSON: { headers: PROGRAM },
    poll: { headers: { 'Anteroom-Poll': '1' } },
    head: { method: 'HEAD', headers: NAVIGATE },
    form: { method: 'POST', headers: { ...NAVIGATE, 'Content-Type': 'text/plain' }, body: 'x' },
    order: { method: 'POST', headers: PROGRAM, body: '{}' },
    prefetch: { headers: { 'Sec-Purpose': 'prefetch' } },
    preflight: { method: 'OPTIONS', headers: preflight },
    leave: { method: 'POST', path: '/.anteroom/leave' },
    'leave by GET': { path: '/.anteroom/leave' },
    'leave from elsewhere': { method: 'POST', path: '/.anteroom/leave', headers: { 'Sec-Fetch-Site': 'cross-site' } },
    redirect: { host: 'shop.test', path: '/%73hop', headers: NAVIGATE },
    disputed: { host: 'shop.test', path: '/shop/..;/news', headers: NAVIGATE },
    'status 429': { host: 'late.test', headers: NAVIGATE },
    reject: { host: 'closed.test', headers: NAVIGATE },
    'queue all': { host: 'held.test', headers: NAVIGATE },
  };
  for (const [name, request] of Object.entries(requests)) {
    const response = await ask(server.port, { host: 'cors.test', ...request });
    assert.ok(response.state, `${name} is anteroom's answer`);
    assert.equal(response.headers['cache-control'], 'no-store', name);
    assert.equal(response.headers.etag, undefined, name);
    for (const field of ['cdn-cache-control', 'surrogate-control', 'expires', 'last-modified', 'age']) {
      assert.equal(response.headers[field], undefined, `${name}: ${field}`);
    }
  }
  const socket = await connect(server.port, 'cors.test', '/');
  assert.equal(socket.headers['cache-control'], 'no-store');
});

const CACHEABLE = [
  ['Cache-Control', 'public, max-age=31536000, immutable'],
  ['Cache-Control', 's-maxage=600, proxy-revalidate'],
  ['Cache-Control', 'Public', 'Cache-Control', 'S-MAXAGE=60'],
  ['CDN-Cache-Control', 'max-age=600', 'Cloudflare-CDN-Cache-Control', 'max-age=600', 'Surrogate-Control', 'max-age=600'],
  ['Expires', 'Wed, 09 Jun 2100 10:18:14 GMT'],
  [],
];

/** Fails if a shared cache may store the answer. */
function assertIsPrivate(response) {
  const control = response.headers['cache-control'] ?? '';
  assert.match(control, /(^|, )private(,|$)/);
  assert.doesNotMatch(control, /public|s-maxage|proxy-revalidate/i);
  for (const field of ['cdn-cache-control', 'cloudflare-cdn-cache-control', 'surrogate-control']) {
    assert.equal(response.headers[field], undefined, field);
  }
}

test('an answer that carries a first pass is for its visitor alone', async () => {
  for (const [i, headers] of CACHEABLE.entries()) {
    for (const status of [200, 301, 404]) {
      origin.on('/cacheable', { status, headers: [...headers, 'ETag', '"x"'] });
      const response = await ask(server.port, { host: 'walk.test', path: '/cacheable', headers: NAVIGATE });
      assert.equal(response.status, status);
      assert.equal(ours(response).length, 1, `case ${i}`);
      assertIsPrivate(response);
    }
  }
});

test('so is one that carries a renewed pass, and one that takes the pass back', async () => {
  const url = 'http://tabs.test/cacheable';
  origin.on('/cacheable', { headers: CACHEABLE[0] });
  const visitor = new Visitor(server);
  await visitor.open(url);
  const renewed = await until('a pass is renewed', async () => {
    const response = await visitor.open(url);
    return ours(response).length === 1 && response;
  });
  assertIsPrivate(renewed);
  origin.on('/revoked', { headers: [...CACHEABLE[0], 'Cf-Waiting-Room-Command', 'revoke'] });
  const buyer = new Visitor(server);
  const revoked = await buyer.open('http://revoked.test/revoked');
  assert.equal(ours(revoked)[0].value, '');
  assertIsPrivate(revoked);
});

test('an answer without a cookie of ours stays as cacheable as the origin made it', async () => {
  const visitor = new Visitor(server);
  origin.on('/cacheable', { headers: CACHEABLE[0] });
  await visitor.open('http://walk.test/');
  const response = await visitor.open('http://walk.test/cacheable');
  assert.equal(response.headers['cache-control'], 'public, max-age=31536000, immutable');
});
