// Attack: to speak to an upper tier as if one were a part of the deployment, in order to pass a room by, to
// put answers into a cache, or to send a request round and round.

import assert from 'node:assert/strict';
import { createHmac, createHash } from 'node:crypto';
import { after, before, test } from 'node:test';

import { ask } from '../e2e/harness/client.mjs';
import { Origin } from '../e2e/harness/origin.mjs';
import { Pop, TIER_SECRET } from '../e2e/harness/pops.mjs';
import { PASS_SECRET } from '../e2e/harness/workerd.mjs';

const host = 'tiered.test';
let origin, tier, front;
before(async () => {
  origin = await Origin.start();
  tier = await Pop.start({ origin: origin.port, tier: 'fra' });
  front = await Pop.start({ origin: origin.port, tiers: { TIER_FRA: tier } });
});
after(async () => {
  await Promise.all([front, tier].map((pop) => pop?.stop()));
  origin.stop();
});

/** A marker as anteroom makes it, with a key that is right or not. */
function marker(url, { hop = 'tier', to = 'fra', at = Date.now(), key = TIER_SECRET, method = 'GET', kid = 't', alg = 'HS256' } = {}) {
  const encode = (value) => Buffer.from(value).toString('base64url');
  const header = encode(`{"alg":"${alg}","kid":"${kid}","typ":"JWT"}`);
  const of = createHash('sha256').update(`${method} ${url}`).digest('base64url');
  const claims = encode(JSON.stringify({ hop, tier: to, at, of }));
  const signature = alg === 'none' ? '' : createHmac('sha256', key).update(`${header}.${claims}`).digest('base64url');
  return `${header}.${claims}.${signature}`;
}

const url = (path) => `http://${host}${path}`;
const knock = (pop, path, text) => ask(pop.port, { host, path, headers: text === undefined ? {} : { 'Anteroom-Tier': text } });

test('a tier answers those of the deployment', async () => {
  assert.equal((await knock(tier, '/good', marker(url('/good')))).text, 'the site');
  assert.equal((await knock(tier, '/good', marker(url('/good'), { hop: 'ping' }))).status, 204);
});

test('it answers nobody else', async () => {
  const path = '/secret';
  const other = Buffer.alloc(32, 1);
  for (const [what, text] of Object.entries({
    nothing: undefined,
    empty: '',
    junk: 'junk',
    'an unknown key': marker(url(path), { key: other }),
    'the key of passes': marker(url(path), { key: PASS_SECRET, kid: 'e2e' }),
    'no algorithm': marker(url(path), { alg: 'none' }),
    'a marker of another URL': marker(url('/other')),
    'a marker of another query': marker(url(`${path}?a=1`)),
    'a marker of another host': marker(`http://by-object.test${path}`),
    'a marker of another method': marker(url(path), { method: 'HEAD' }),
    'a marker of another tier': marker(url(path), { to: 'lhr' }),
    'an old marker': marker(url(path), { at: Date.now() - 11_000 }),
    'a marker of the future': marker(url(path), { at: Date.now() + 60_000 }),
    'the marker that the origin saw': marker(url(path), { hop: 'origin' }),
  })) {
    const answer = await knock(tier, path, text);
    assert.equal(answer.status, 403, what);
    assert.equal(answer.text, '', what);
  }
  assert.equal(origin.seen(path).length, 0);
});

test('it connects to what a marker names, to nothing private, and once for a marker', async () => {
  const handshakes = [];
  origin.server.on('connect', (request, socket) => {
    handshakes.push(request.url);
    socket.on('error', () => {});
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
  });
  origin.on('/cdn-cgi/trace', { body: 'colo=FRA\n' });
  const errand = (...origins) => `/?port=9&origins=${origins.join(',')}`;
  const send = (path, text) =>
    ask(tier.port, {
      host: 'checkpoint.invalid',
      path,
      headers: { 'X-Forwarded-Proto': 'https', ...(text !== undefined && { 'Anteroom-Tier': text }) },
    });
  const url = (path) => `https://checkpoint.invalid${path}`;
  // The tests' own build connects to this machine, and to nothing else that is private.
  const path = errand('127.0.0.1', '10.0.0.1', '169.254.169.254', '[::1]', 'db.internal', host);
  for (const [what, text] of Object.entries({
    nothing: undefined,
    'an unknown key': marker(url(path), { hop: 'probe', key: Buffer.alloc(32, 1) }),
    'a marker of another kind': marker(url(path), { hop: 'tier' }),
    'a marker of other origins': marker(url(errand('127.0.0.2')), { hop: 'probe' }),
    'a marker of another port': marker(url(path.replace('port=9', 'port=22')), { hop: 'probe' }),
    'a marker of another checkpoint': marker(url(path), { hop: 'probe', to: 'gru' }),
    'an old marker': marker(url(path), { hop: 'probe', at: Date.now() - 11_000 }),
  })) {
    const answer = await send(path, text);
    assert.notEqual(answer.status, 200, what);
    assert.equal(answer.text, '', what);
  }
  const many = errand(...Array.from({ length: 9 }, () => '127.0.0.1'));
  assert.equal((await send(many, marker(url(many), { hop: 'probe' }))).status, 403, 'more origins than are probed at once');
  assert.deepEqual(handshakes, []);

  const good = marker(url(path), { hop: 'probe' });
  const report = await send(path, good);
  assert.equal(report.status, 200);
  assert.deepEqual(report.json().timed.map((timed) => timed.origin), ['127.0.0.1']);
  assert.deepEqual([...new Set(handshakes)], ['127.0.0.1:9']);
  const seen = handshakes.length;
  assert.equal((await send(path, good)).status, 403, 'the same marker again');
  assert.equal((await send(path, marker(url(path), { hop: 'probe' }))).status, 403, 'another one so soon');
  assert.equal(handshakes.length, seen);
});

test('a host that is not cached has no tier', async () => {
  const answer = await ask(tier.port, { host: 'walk.test', path: '/', headers: { 'Anteroom-Tier': marker('http://walk.test/') } });
  assert.equal(answer.status, 421);
});

test('in front of visitors a forged marker is nothing', async () => {
  for (const text of ['junk', marker(url('/front'), { hop: 'origin', key: Buffer.alloc(32, 1) }), marker(url('/front'))]) {
    const answer = await knock(front, '/front', text);
    assert.match(answer.headers['cache-status'], /lower/, 'it went the way of every request');
  }
});

test('a tier whose way to the origin leads through the front goes round once', async () => {
  // What the tier fetches arrives at the front, which hands it to the origin.
  const looped = await Pop.start({ origin: front.port, tier: 'fra' });
  const before = await Pop.start({ origin: origin.port, tiers: { TIER_FRA: looped } });
  try {
    const answer = await ask(before.port, { host, path: '/round' });
    assert.equal(answer.text, 'the site');
    const seen = origin.seen('/round');
    assert.equal(seen.length, 1);
    assert.equal(seen[0].header('Anteroom-Tier'), undefined, 'the origin learns no marker that was met on the way');
  } finally {
    await Promise.all([before.stop(), looped.stop()]);
  }
});
