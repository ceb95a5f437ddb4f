// Attack: make anteroom send a visitor to another site, or write header fields of the attacker's
// into its redirect.
//
// Defence: a redirect goes to the canonical path, which begins with the covered route and is encoded
// anew (src/gate/route.rs, src/site/path.rs); leaving answers with a page and no redirect.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NAVIGATE, Visitor, ask } from '../e2e/harness/client.mjs';
import { stage } from '../e2e/harness/stage.mjs';

const { server } = await stage();

const PATHS = [
  '/%73hop', '//shop', '///shop', '/\\shop', '/\\/shop', '//evil.test/../shop', '//evil.test/%2e%2e/shop',
  '/%2F%2Fevil.test/..%2f..%2fshop', '/shop%2F%2Fevil.test', '/shop%5c%5cevil.test', '/%73hop//evil.test',
  '/%73hop/https://evil.test', '/%73hop?//evil.test', '/%73hop?next=https://evil.test', '/%73hop/@evil.test',
  '/%09/shop', '/%0d/shop', '/%73hop/%0d%0aLocation:%20https://evil.test', '/%73hop/%0d%0a%0d%0a<script>'.replace(/[<>]/g, (c) => encodeURIComponent(c)),
  '/%73hop?%0d%0aSet-Cookie:%20a=b', '/;@evil.test/shop', '/%73hop/%00', '/shop;//evil.test', '/%2e%2e//shop',
  '/%73hop/%E2%80%AE', '/%73hop/..;/..//evil.test', '/%73hop/%3Fx', '/%73hop/%23x', '/%73hop/%2525',
];

test('every redirect stays on the host and under the route', async () => {
  let redirects = 0;
  for (const path of PATHS) {
    for (const proto of ['http', 'https']) {
      const response = await ask(server.port, {
        host: 'shop.test',
        path,
        headers: { ...NAVIGATE, 'X-Forwarded-Proto': proto, 'X-Forwarded-Host': 'evil.test', Referer: 'https://evil.test/' },
      });
      assert.notEqual(response.headers['set-cookie']?.[0], 'a=b', path);
      const { location } = response.headers;
      if (location === undefined) continue;
      redirects += 1;
      assert.equal(response.status, 308);
      // Byte by byte: a browser takes `//` and `/\` for the beginning of a host.
      assert.match(location, /^\/shop(?=$|[/?;])[\x21-\x7e]*$/, path);
      const target = new URL(location, 'http://shop.test/');
      assert.equal(target.host, 'shop.test', path);
      // It leads to the end at once.
      const next = await ask(server.port, { host: 'shop.test', path: location, headers: NAVIGATE });
      assert.notEqual(next.status, 308, `${path} -> ${location}`);
    }
  }
  assert.ok(redirects > 20, `${redirects} redirects`);
});

test('a Host of the attacker’s is not in any redirect', async () => {
  for (const host of ['evil.test', 'shop.test.evil.test', 'shop.test@evil.test']) {
    const response = await ask(server.port, { host, path: '/%73hop', headers: NAVIGATE }).catch(() => undefined);
    assert.equal(response?.headers.location, undefined, host);
  }
});

test('leaving sends nobody anywhere', async () => {
  const url = 'http://one-1.test/';
  for (const query of ['', '?next=https://evil.test', '?return=//evil.test', '?url=javascript:alert(1)']) {
    const visitor = new Visitor(server);
    await visitor.open(url);
    const response = await visitor.open(`${url}.anteroom/leave${query}`, {
      method: 'POST',
      headers: { ...NAVIGATE, 'Sec-Fetch-Site': 'same-origin', Referer: 'https://evil.test/' },
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.location, undefined);
    assert.equal(response.headers.refresh, undefined);
    assert.doesNotMatch(response.text, /evil\.test|javascript:/);
  }
});
