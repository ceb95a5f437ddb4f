// Attack: reach a covered page by a spelling of its URL that the room does not recognise and the
// origin does.
//
// Defence: paths are matched in one canonical form (src/site/path.rs), hosts without port, case and
// trailing dot (src/gate/route.rs), and nothing but the URL says what is asked for.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { before, test } from 'node:test';

import { NAVIGATE, Visitor, ask } from '../e2e/harness/client.mjs';
import { stage } from '../e2e/harness/stage.mjs';

const { origin, server } = await stage();

before(async () => {
  await new Visitor(server).open('http://shop.test/shop');
});

/** Whether a request goes through without a pass. */
async function gets(request) {
  origin.requests.length = 0;
  const response = await ask(server.port, { host: 'shop.test', headers: NAVIGATE, ...request });
  return { forwarded: origin.requests.length, response };
}

const SPELLINGS = [
  '/shop', '/shop/', '/shop?x', '/shop#x', '/shop/x', '//shop', '///shop//x', '/./shop', '/x/../shop',
  '/%73hop', '/%73%68%6f%70', '/%2573hop', '/%252573hop', '/sho%70/x', '/shop%2Fx', '/shop%2fx', '/%2Fshop',
  '/%2f%2fshop', '/shop%5Cx', '/\\shop', '/\\\\shop', '/%5cshop', '/shop;v=1', '/shop;/x', '/;/shop', '/;x=1/shop',
  '/shop%00', '/shop%00.png', '/shop%3Fx', '/shop%23x', '/%2e/shop', '/%2e%2e/shop', '/x/%2e%2e/shop',
  '/x/%252e%252e/shop', '/x/..;/shop', '/x%2F..%2Fshop', '/x/..%2fshop', '/x/%2e%2e%2fshop', '/x//../shop',
  '/robots.txt/../shop', '/robots.txt%2f../shop', '/robots.txt;/../shop', '/.well-known/acme-challenge/../../shop',
  '/.well-known/acme-challenge/..%2f..%2fshop', '/.well-known/acme-challenge/%2e%2e/%2e%2e/shop', '/shop/..;/x',
  '/;a%2Fx/shop', '/shop/.anteroom', '/shop/.anteroom/leave/x', '/shop/.anteroom/..;/x',
];

test('no spelling of the path goes through', async () => {
  for (const path of SPELLINGS) {
    const { forwarded, response } = await gets({ path });
    assert.equal(forwarded, 0, path);
    assert.ok(response.state, path);
  }
});

test('nor does another method', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND', 'REPORT', 'PURGE']) {
    const { forwarded } = await gets({ path: '/shop', method });
    assert.equal(forwarded, 0, method);
  }
});

test('no spelling of the host goes through', async () => {
  for (const host of ['SHOP.test', 'Shop.Test', 'shop.test.', 'shop.test:80', 'shop.test:443', 'shop.test.:8080']) {
    const { forwarded } = await gets({ host, path: '/shop' });
    assert.equal(forwarded, 0, host);
  }
});

test('an absolute request target counts, not the Host beside it', async () => {
  origin.requests.length = 0;
  const socket = connect(server.port, '127.0.0.1');
  socket.end('GET http://shop.test/shop HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n');
  const chunks = [];
  for await (const chunk of socket) chunks.push(chunk);
  const forwarded = origin.requests.filter((request) => request.url.includes('/shop'));
  assert.deepEqual(forwarded, [], Buffer.concat(chunks).toString().slice(0, 200));
});

test('header fields that some servers take for the URL change nothing', async () => {
  const fields = {
    'X-Original-URL': '/free', 'X-Rewrite-URL': '/free', 'X-Forwarded-Host': 'elsewhere.test', 'X-Host': 'elsewhere.test',
    'X-Forwarded-Prefix': '/free', 'X-HTTP-Method-Override': 'OPTIONS', Forwarded: 'host=elsewhere.test',
  };
  const { forwarded } = await gets({ path: '/shop', headers: { ...NAVIGATE, ...fields } });
  assert.equal(forwarded, 0);
});

test('the pass of one room opens no other on the same host', async () => {
  const reader = new Visitor(server);
  await reader.open('http://shop.test/news');
  const Cookie = reader.cookie('http://shop.test/news');
  assert.ok(Cookie);
  const pass = reader.token('http://shop.test/news');
  for (const path of ['/shop', '/news/..;/shop', '/news/%252e%252e/shop', '/news%2f..%2fshop', '/news/../shop']) {
    for (const cookie of [Cookie, `__cfwaitingroom=${pass}`]) {
      const { forwarded } = await gets({ path, headers: { ...NAVIGATE, Cookie: cookie } });
      assert.equal(forwarded, 0, path);
    }
  }
});

test('what is not covered goes through', async () => {
  for (const path of ['/shopping', '/', '/x?/shop', '/x/shop', '/robots.txt', '/.well-known/acme-challenge/x']) {
    const { forwarded, response } = await gets({ path });
    assert.equal(forwarded, 1, path);
    assert.equal(response.state, undefined, path);
  }
});
