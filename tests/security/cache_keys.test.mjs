// Attack: put an answer into the cache that others get: by a header field that the origin makes something of
// and the key does not know (cache poisoning), or by a path that the origin reads as another one than it looks
// (cache deception); or read or fill the cache by the URL of a place.
//
// Defence: an answer is stored by what its own header fields say and never for what its path looks like; a path
// that origins read in different ways is not cached (src/site/cached_host.rs); the key has everything of the
// URL (src/cache/key.rs); a silent answer to a request with a cookie is not stored even where the operator
// stores silence (src/cache/entry.rs). What an origin makes of other header fields it has to name in Vary.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { CachedHost } from '../e2e/harness/cached.mjs';
import { ask } from '../e2e/harness/client.mjs';
import { Copies } from '../e2e/harness/copies.mjs';
import { stage } from '../e2e/harness/stage.mjs';

const copies = await Copies.start();
after(() => copies.stop());
const { origin, server } = await stage({ copies });
const site = new CachedHost({ origin, server, copies });

const FRESH = ['Cache-Control', 'max-age=600'];

test('no other host, scheme, port or spelling shares a place', async () => {
  await site.fill('/place', { headers: FRESH, body: 'mine' });
  origin.on('/place', { headers: FRESH, body: 'of another' });
  const others = [
    [{ host: 'cached.test:81' }],
    [{ host: 'cached.test', headers: { 'X-Forwarded-Proto': 'https' } }],
    [{ host: 'cached.test', path: '/place?' }],
    [{ host: 'cached.test', path: '/place/' }],
  ];
  origin.on('/place/', { headers: FRESH, body: 'of another' });
  for (const [request] of others) {
    assert.equal((await ask(server.port, { path: '/place', ...request })).text, 'of another', JSON.stringify(request));
  }
  assert.equal((await site.get('/place')).text, 'mine');
});

test('a forged forwarding field is no part of the key and no way round it', async () => {
  origin.on('/forwarded', (request, response) => {
    const by = request.headers['x-forwarded-host'];
    response.writeHead(200, by ? ['Cache-Control', 'no-store'] : FRESH);
    response.end(by ?? 'plain');
  });
  assert.equal((await site.get('/forwarded', { 'X-Forwarded-Host': 'evil.test' })).text, 'evil.test');
  assert.equal((await site.get('/forwarded')).text, 'plain');
});

test('a private page under the name of a style sheet is not stored', async () => {
  for (const path of ['/me/x.css', '/me;x.css', '/me%2Fx.css', '/me/..%2Fx.css', '/silent/me.css']) {
    origin.on(path, { headers: [], body: 'my page' });
    const mine = await site.get(path, { Cookie: 'login=1' });
    assert.equal(mine.text, 'my page');
    assert.doesNotMatch(mine.cache, /stored/, path);
    origin.on(path, { headers: ['Cache-Control', 'no-store'], body: 'nothing' });
    assert.equal((await site.get(path)).text, 'nothing', path);
  }
});

test('an odd path is not cached, whatever the origin says of it', async () => {
  for (const path of ['/a;b/c', '//c', '/a%2Fc', '/x/..;/c', '/a\\c']) {
    origin.on(path, { headers: FRESH });
    for (let i = 0; i < 2; i++) assert.match((await site.get(path)).cache, /fwd=(bypass|uri-miss)/, path);
  }
});

test('no visitor reaches a place by its URL', async () => {
  await site.fill('/hidden', { headers: FRESH, body: 'hidden' });
  const [key] = [...copies.cache.keys()].filter((key) => key.includes('/answers/'));
  const path = key.slice(key.indexOf('/answers/'));
  const response = await ask(server.port, { host: 'anteroom.invalid', path });
  assert.equal(response.text, 'the site', 'the origin\'s answer');
  assert.equal(response.headers['anteroom-kept'], undefined);
});

test('what an origin puts aside in our name is not believed', async () => {
  const kept = Buffer.from('{"answer":{"url":"http://cached.test/x"}}').toString('base64');
  await site.fill('/aside', { headers: [...FRESH, 'Anteroom-Kept', kept], body: 'aside' });
  assert.equal((await site.get('/aside')).text, 'aside');
});

test('a long list of header fields costs the answer its place and nobody their answer', async () => {
  const many = Array.from({ length: 60 }, (_, i) => [`X-${i}`, 'x'.repeat(1_000)]).flat();
  origin.on('/many', { headers: [...FRESH, ...many], body: 'many' });
  for (let i = 0; i < 2; i++) {
    const response = await site.get('/many');
    assert.equal(response.text, 'many');
    assert.doesNotMatch(response.cache, /stored/);
  }
});
