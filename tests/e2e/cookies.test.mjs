// The room's cookie on its way to the visitor and back.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NAVIGATE, Visitor, ask, claims, ours } from './harness/client.mjs';
import { stage } from './harness/stage.mjs';

const { server } = await stage();

test('the worked example: two rooms that share domain and path have a cookie each', async () => {
  const visitor = new Visitor(server);
  const routes = [
    ['http://a.example.com/shoes/product_123', '__cfwaitingroom_a'],
    ['http://c.example.com/shoes/product_123', '__cfwaitingroom_b'],
  ];
  for (const [url, name] of routes) {
    const response = await visitor.open(url);
    assert.equal(response.setCookies.length, 1);
    const [cookie] = ours(response);
    assert.equal(cookie.name, name);
    assert.equal(cookie.domain, 'example.com');
    assert.equal(cookie.path, '/shoes');
    const token = cookie.value;
    assert.equal(
      response.setCookies[0].replace('Max-Age=299', 'Max-Age=300'),
      `${name}=${token}; HttpOnly; SameSite=Lax; Path=/shoes; Domain=example.com; Max-Age=300`,
    );
  }
  // Both cookies arrive everywhere; each room takes its own.
  for (const url of ['http://b.example.com/shoes/product_456', 'http://d.example.com/shoes/product_456']) {
    assert.equal(visitor.cookie(url).split('; ').length, 2);
    const response = await visitor.open(url);
    assert.equal(response.state, undefined);
    assert.deepEqual(response.setCookies, []);
  }
});

test('who was let in at example.com passes checkout.example.com', async () => {
  const visitor = new Visitor(server);
  await visitor.open('http://example.com/sale');
  assert.equal(visitor.claims('http://example.com/').state, 'admitted');
  const checkout = await visitor.open('http://checkout.example.com/pay');
  assert.equal(checkout.text, 'the site');
  assert.deepEqual(checkout.setCookies, []);
  const other = new Visitor(server);
  assert.equal((await other.open('http://checkout.example.com/pay')).state, 'joining', 'one room, one place');
});

test('no company and no junk hides the right cookie', async () => {
  const url = 'http://one-1.test/';
  const visitor = new Visitor(server);
  await visitor.open(url);
  const own = visitor.cookie(url);
  const name = '__cfwaitingroom';
  const foreign = new Visitor(server);
  await foreign.open('http://walk.test/');
  const of = foreign.token('http://walk.test/');
  const lines = [
    [own],
    [`a=1; ${own}`, 'b=2'],
    ['a=1', own],
    [own, `${name}=junk`],
    [`${name}=junk`, own],
    [`${name}=junk; ${own}`],
    [`${name}=${of}; ${own}`],
    [`;;,,=;=x;%zz=%; ${name}=%zz; ${own};;`],
    [`${own.replace('=', '="')}"`],
    [`x="a; ${own}`],
    [`caf\u00e9=\u00ff\u00fe; ${own}`],
    [`${Array(7).fill(`${name}=junk`).join('; ')}; ${own}`],
    [`${'y'.repeat(6000)}=1; ${own}`],
  ];
  for (const cookies of lines) {
    const headers = cookies.flatMap((line) => ['Cookie', line]);
    const response = await ask(server.port, { host: 'one-1.test', headers });
    assert.equal(response.state, undefined, cookies.join(' | ').slice(0, 100));
    assert.deepEqual(response.setCookies, []);
  }
});

test('what does not verify is as good as nothing: no error, no way in', async () => {
  const url = 'http://one-2.test/';
  const visitor = new Visitor(server);
  await visitor.open(url);
  const own = visitor.cookie(url);
  const other = new Visitor(server);
  await other.open('http://walk.test/');
  const name = '__cfwaitingroom';
  const refused = [
    `${name}=junk`,
    `${name}=`,
    name,
    `${name}=${other.token('http://walk.test/')}`,
    `${own.slice(0, -1)}`,
    `${own}x`,
    own.toUpperCase(),
    `${Array(8).fill(`${name}=junk`).join('; ')}; ${own}`,
    `${name}=%`,
    '=',
    ';',
    '\u00ff',
  ];
  for (const cookie of refused) {
    const response = await ask(server.port, { host: 'one-2.test', headers: { ...NAVIGATE, Cookie: cookie } });
    assert.equal(response.state, 'joining', cookie.slice(0, 60));
    assert.equal(response.status, 200);
  }
});

test('a waiting visitor’s place survives junk beside the cookie', async () => {
  const url = 'http://one-3.test/';
  await new Visitor(server).open(url);
  const visitor = new Visitor(server);
  await visitor.queue(url);
  const headers = ['Cookie', '__cfwaitingroom=junk; x=1', 'Cookie', visitor.cookie(url), 'Anteroom-Poll', '1'];
  const response = await ask(server.port, { host: 'one-3.test', headers });
  assert.equal(response.json().cfWaitingRoom.position, 1);
});

test('a covered GET whose spelling lies outside the cookie’s path is sent to the canonical one', async () => {
  for (const [spelling, location] of [
    ['/%73hop', '/shop'],
    ['/%73hop/x?y=1&z=%20', '/shop/x?y=1&z=%20'],
    ['//shop', '/shop'],
    ['/shop%2Fx', '/shop/x'],
    ['/shop;v=1', '/shop'],
  ]) {
    const response = await ask(server.port, { host: 'shop.test', path: spelling, headers: NAVIGATE });
    assert.equal(response.status, 308, spelling);
    assert.equal(response.headers.location, location);
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.deepEqual(response.setCookies, []);
  }
});

test('a disputed path is refused', async () => {
  const visitor = new Visitor(server);
  await visitor.open('http://shop.test/shop');
  const response = await ask(server.port, {
    host: 'shop.test',
    path: '/shop/..;/news',
    headers: { ...NAVIGATE, Cookie: visitor.cookie('http://shop.test/shop') },
  });
  assert.equal(response.status, 400);
  assert.equal(response.state, 'error');
});

test('a room for which case does not matter knows its visitor in every spelling', async () => {
  const visitor = new Visitor(server);
  const first = await visitor.open('http://any-case.test/sHoP/x');
  assert.equal(first.text, 'the site');
  assert.equal(ours(first)[0].path, '/');
  assert.equal((await visitor.open('http://any-case.test/SHOP/x')).state, undefined);
  const other = new Visitor(server);
  assert.equal((await other.open('http://ANY-CASE.test/shop')).state, 'joining');
});

test('a pass that is bound to a user agent holds for no other', async () => {
  const url = 'http://bound.test/';
  const visitor = new Visitor(server, { 'User-Agent': 'one/1.0' });
  await visitor.open(url);
  const { sub } = visitor.claims(url);
  const show = async (agent) => {
    const headers = { ...NAVIGATE, 'User-Agent': agent, Cookie: visitor.cookie(url) };
    return ours(await ask(server.port, { host: 'bound.test', headers }));
  };
  assert.deepEqual(await show('one/1.0'), []);
  const [given] = await show('two/1.0');
  assert.notEqual(claims(given.value).sub, sub, 'somebody else, with a place of their own');
});
