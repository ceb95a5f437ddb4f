// The cache of a data centre, seen from outside. What is stale here was so when it came: its Age says that.

import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { CachedHost } from './harness/cached.mjs';
import { NAVIGATE, Visitor, ask } from './harness/client.mjs';
import { Copies } from './harness/copies.mjs';
import { stage } from './harness/stage.mjs';
import { until } from './harness/until.mjs';

const copies = await Copies.start();
after(() => copies.stop());
const { origin, server } = await stage({ copies });
const site = new CachedHost({ origin, server, copies });

const FRESH = ['Cache-Control', 'max-age=600'];
/** Stale since one second when it comes. */
const STALE = ['Cache-Control', 'max-age=600', 'Age', '601'];
const TAGGED = ['ETag', '"one"', 'Last-Modified', 'Wed, 01 Jan 2020 00:00:00 GMT'];

beforeEach(() => {
  origin.requests.length = 0;
  copies.state.cache = 'up';
});

test('an answer is fetched once and then served from the cache, byte for byte', async () => {
  const body = gzipSync(Buffer.from(Array.from({ length: 50_000 }, (_, i) => (i * 31) % 251)));
  const headers = [...FRESH, 'Content-Encoding', 'gzip', 'Content-Type', 'text/x', 'X-Twice', 'a', 'X-Twice', 'b', 'X-Latin', 'caf\u00e9'];
  const first = await site.fill('/once', { headers, body });
  // The origin's Date is in whole seconds, so the answer may have an age of one when it comes.
  assert.match(first.cache, /^lower;fwd=uri-miss;fwd-status=200;stored;ttl=(600|59\d)$/);
  assert.ok(first.body.equals(body));
  const second = await site.get('/once');
  assert.match(second.cache, /^lower;hit;ttl=(600|59\d)$/);
  assert.ok(second.body.equals(body), 'the very bytes');
  assert.equal(second.status, 200);
  assert.match(second.headers.age, /^\d+$/);
  for (const name of ['content-encoding', 'content-type', 'x-twice', 'x-latin', 'cache-control']) {
    assert.equal(second.headers[name], first.headers[name], name);
  }
  assert.equal(site.asked('/once'), 1);
});

test('a URL is a key with its query, and a host that is not cached has none', async () => {
  await site.fill('/key?a=1', { headers: FRESH });
  assert.match((await site.get('/key?a=2')).cache, /uri-miss/);
  assert.match((await site.get('/key?a=1')).cache, /hit/);
  for (let i = 0; i < 2; i++) {
    const response = await ask(server.port, { host: 'elsewhere.test', path: '/key' });
    assert.equal(response.headers['cache-status'], undefined);
  }
  assert.equal(origin.seen('/key', 'elsewhere.test').length, 2);
  assert.doesNotMatch(site.holds(), /elsewhere/);
});

test('what goes by the cache says so, and changes nothing in it', async () => {
  origin.on('/off/x', { headers: FRESH });
  const stored = copies.stored;
  for (const [path, headers] of [['/off/x'], ['/x', { Cookie: 'a=1; session=2' }], ['/a;b/../c'], ['/x', { 'If-Match': '"a"' }]]) {
    for (let i = 0; i < 2; i++) assert.equal((await site.get(path, headers)).cache, 'lower;fwd=bypass', path);
  }
  assert.equal(copies.stored, stored);
});

test('HEAD, a condition and a range are answered from what is stored', async () => {
  await site.fill('/parts', { headers: [...FRESH, ...TAGGED, 'Content-Length', '10'], body: '0123456789' });
  const head = await site.get('/parts', {}, { method: 'HEAD' });
  assert.deepEqual([head.status, head.body.length], [200, 0]);
  const had = await site.get('/parts', { 'If-None-Match': 'W/"one"' });
  assert.deepEqual([had.status, had.headers.etag, had.body.length], [304, '"one"', 0]);
  for (const [range, text] of [['bytes=2-4', '234'], ['bytes=7-', '789'], ['bytes=-1', '9']]) {
    const part = await site.get('/parts', { Range: range });
    assert.deepEqual([part.status, part.text], [206, text], range);
    assert.match(part.headers['content-range'], /^bytes \d-\d\/10$/);
  }
  const same = await site.get('/parts', { Range: 'bytes=0-1', 'If-Range': '"one"' });
  assert.deepEqual([same.status, same.text], [206, '01']);
  const other = await site.get('/parts', { Range: 'bytes=0-1', 'If-Range': '"two"' });
  assert.deepEqual([other.status, other.text], [200, '0123456789']);
  assert.equal(site.asked('/parts'), 1);
});

test('a stale answer is validated, and the confirmation is stored', async () => {
  await site.fill('/valid', { headers: [...STALE, ...TAGGED, 'X-Old', '1', 'X-Both', '1'], body: 'whole' });
  const before = copies.stored;
  origin.on('/valid', { status: 304, headers: [...FRESH, 'ETag', '"one"', 'X-Both', '2', 'Set-Cookie', 'a=1'], body: undefined });
  const confirmed = await site.get('/valid');
  assert.equal(origin.requests.at(-1).header('if-none-match'), '"one"');
  assert.equal(origin.requests.at(-1).header('if-modified-since'), 'Wed, 01 Jan 2020 00:00:00 GMT');
  assert.deepEqual([confirmed.status, confirmed.text], [200, 'whole']);
  assert.match(confirmed.cache, /fwd=stale;fwd-status=304;stored/);
  assert.deepEqual([confirmed.headers['x-old'], confirmed.headers['x-both']], ['1', '2']);
  assert.deepEqual(confirmed.setCookies, ['a=1'], 'for this visitor');
  await until('the confirmation is stored', () => copies.stored > before);
  const hit = await site.get('/valid');
  assert.match(hit.cache, /hit/);
  assert.deepEqual([hit.text, hit.headers['x-both'], hit.setCookies.length], ['whole', '2', 0]);
});

test('a stale answer is served while one request renews it behind', async () => {
  await site.fill('/stale/x', { headers: STALE, body: 'old' });
  const release = origin.hold('/stale/x', { headers: FRESH, body: 'new' });
  const asked = site.asked('/stale/x');
  for (let i = 0; i < 5; i++) {
    const response = await site.get('/stale/x');
    assert.equal(response.text, 'old');
    assert.match(response.cache, /^lower;hit;ttl=-\d+$/);
  }
  await until('it is renewed', () => origin.holds('/stale/x'));
  assert.equal(site.asked('/stale/x'), asked + 1);
  release();
  await until('the new one is served', async () => (await site.get('/stale/x')).text === 'new');
});

test('a stale answer takes the place of an error, where nobody forbids it', async () => {
  await site.fill('/fails/x', { headers: STALE, body: 'old' });
  await site.fill('/fails/strict', { headers: ['Cache-Control', 'max-age=600, must-revalidate', 'Age', '601', 'ETag', '"a"'], body: 'old' });
  for (const path of ['/fails/x', '/fails/strict']) origin.on(path, { status: 503, headers: [], body: 'broken' });
  const served = await site.get('/fails/x');
  assert.deepEqual([served.status, served.text], [200, 'old']);
  assert.match(served.cache, /fwd=stale;fwd-status=503;ttl=-/);
  assert.equal((await site.get('/fails/strict')).status, 503);
  origin.on('/fails/x', (request, response) => response.destroy());
  assert.equal((await site.get('/fails/x')).text, 'old', 'no connection');
  origin.on('/fails/x', { status: 404, headers: [], body: 'gone' });
  assert.equal((await site.get('/fails/x')).status, 404, 'no error but an answer');
});

test('answers that vary are kept apart, and go together', async () => {
  const vary = (request, response) => {
    response.writeHead(200, [...FRESH, 'Vary', 'Accept-Language']);
    response.end(request.headers['accept-language'] ?? 'none');
  };
  for (const language of ['de', 'fr', undefined]) await site.fill('/vary', vary, language ? { 'Accept-Language': language } : {});
  for (const [language, text] of [['de', 'de'], ['FR', 'fr'], [undefined, 'none']]) {
    const response = await site.get('/vary', language ? { 'Accept-Language': language } : {});
    assert.match(response.cache, /hit/, language);
    assert.equal(response.text, text);
  }
  assert.match((await site.get('/vary', { 'Accept-Language': 'it' })).cache, /vary-miss/);
  await site.get('/vary', {}, { method: 'POST', body: 'x' });
  for (const language of ['de', 'fr']) {
    assert.match((await site.get('/vary', { 'Accept-Language': language })).cache, /miss/, language);
  }
});

test('a change takes what it names out of the cache, and an error nothing', async () => {
  for (const path of ['/changed', '/named', '/kept']) await site.fill(path, { headers: FRESH });
  origin.on('/changed', { status: 201, headers: ['Location', '/named'], body: '' });
  assert.equal((await site.get('/changed', {}, { method: 'POST', body: 'x' })).cache, 'lower;fwd=method');
  origin.on('/kept', { status: 500, headers: [], body: '' });
  await site.get('/kept', {}, { method: 'DELETE' });
  for (const [path, expected] of [['/changed', /uri-miss/], ['/named', /uri-miss/], ['/kept', /hit/]]) {
    assert.match((await site.get(path)).cache, expected, path);
  }
});

test('fields for this cache count first and go no further', async () => {
  const headers = ['Cache-Control', 'no-store', 'CDN-Cache-Control', 'max-age=5', 'Cloudflare-CDN-Cache-Control', 'max-age=600', 'Cache-Tag', 'a,b'];
  const first = await site.fill('/targeted', { headers });
  const second = await site.get('/targeted');
  assert.match(second.cache, /hit;ttl=(600|59\d)/);
  for (const response of [first, second]) {
    assert.equal(response.headers['cache-control'], 'no-store', 'browsers are told what they were');
    assert.equal(response.headers['cdn-cache-control'], 'max-age=5');
    assert.equal(response.headers['cloudflare-cdn-cache-control'], undefined);
    assert.equal(response.headers['cache-tag'], undefined);
  }
});

test('what a request says of caches counts only where the operator wants it', async () => {
  for (const path of ['/deaf', '/heard/x']) await site.fill(path, { headers: FRESH });
  assert.match((await site.get('/deaf', { 'Cache-Control': 'no-cache' })).cache, /hit/);
  assert.match((await site.get('/heard/x', { 'Cache-Control': 'no-cache' })).cache, /fwd=request/);
  assert.equal((await site.get('/heard/y', { 'Cache-Control': 'only-if-cached' })).status, 504);
  assert.equal(site.asked('/heard/y'), 0);
});

test('silence is stored where the operator says so, and never a page of one visitor', async () => {
  await site.fill('/silent/x', { headers: [] });
  assert.match((await site.get('/silent/x')).cache, /hit/);
  origin.on('/silent/y', { headers: [] });
  for (let i = 0; i < 2; i++) assert.match((await site.get('/silent/y', { Cookie: 'a=1' })).cache, /detail="no-freshness"/);
  origin.on('/unsaid', { headers: [] });
  for (let i = 0; i < 2; i++) assert.match((await site.get('/unsaid')).cache, /uri-miss/);
});

test('a body streams to the visitor, and one that breaks off is not stored', async () => {
  let goOn;
  origin.on('/streams', async (request, response) => {
    response.writeHead(200, FRESH);
    response.write('first');
    await new Promise((resolve) => (goOn = resolve));
    response.end('second');
  });
  const { request: send } = await import('node:http');
  const before = copies.stored;
  const text = await new Promise((resolve, reject) => {
    const request = send({ host: '127.0.0.1', port: server.port, path: '/streams', headers: { Host: 'cached.test' } }, (response) => {
      let heard = '';
      response.on('data', (chunk) => {
        heard += chunk;
        if (heard === 'first') goOn();
      });
      response.on('end', () => resolve(heard));
    });
    request.on('error', reject);
    request.end();
  });
  assert.equal(text, 'firstsecond');
  await until('it is stored', () => copies.stored > before);
  assert.equal((await site.get('/streams')).text, 'firstsecond');

  origin.on('/breaks', (request, response) => {
    response.writeHead(200, [...FRESH, 'Content-Length', '1000']);
    response.write('half');
    setImmediate(() => response.destroy());
  });
  await assert.rejects(site.get('/breaks'));
  origin.on('/breaks', { headers: FRESH, body: 'whole' });
  assert.equal((await site.get('/breaks')).text, 'whole');
});

test('without a cache, or with one that hangs, the origin answers', async () => {
  for (const state of ['throws', 'hangs']) {
    copies.state.cache = state;
    origin.on('/bare', { headers: FRESH, body: 'bare' });
    const begin = performance.now();
    assert.equal((await site.get('/bare')).text, 'bare', state);
    assert.ok(performance.now() - begin < 5_000, state);
  }
});

test('a compressed body stays what it is when a pass is put on the answer', async () => {
  const body = gzipSync('x'.repeat(20_000));
  origin.on('/packed', { headers: [...FRESH, 'Content-Encoding', 'gzip'], body });
  const open = (visitor) => visitor.open('http://cached-asserted.test/packed', { headers: { ...NAVIGATE, 'Accept-Encoding': 'gzip' } });
  for (let i = 0; i < 2; i++) {
    const response = await open(new Visitor(server));
    assert.equal(response.setCookies.length, 1);
    assert.equal(response.headers['content-encoding'], 'gzip');
    assert.ok(response.body.equals(body));
  }
});

test('a room decides before the cache does, and its page is never stored', async () => {
  const host = new CachedHost({ origin, server, copies }, 'cached-one.test');
  origin.on('/page', { headers: FRESH, body: 'the goods' });
  const first = new Visitor(server);
  const before = copies.stored;
  assert.equal((await first.open('http://cached-one.test/page')).text, 'the goods');
  await until('it is stored', () => copies.stored > before);
  const stored = copies.stored;
  const waits = await new Visitor(server).queue('http://cached-one.test/page');
  assert.ok(waits.state, 'though the page is in the cache');
  assert.doesNotMatch(waits.text, /the goods/);
  assert.equal(waits.headers['cache-status'], undefined);
  const again = await first.open('http://cached-one.test/page');
  assert.match(again.headers['cache-status'], /hit/);
  assert.equal(copies.stored, stored);
  assert.doesNotMatch(host.holds(), /__cfwaitingroom/);
  assert.equal((await ask(server.port, { host: 'cached-one.test', path: '/page', headers: NAVIGATE })).headers['cache-control'], 'no-store');
});
