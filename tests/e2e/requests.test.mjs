// What each kind of request gets and takes: docs/methods.md, on the running Worker.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { NAVIGATE, PROGRAM, Visitor, ask } from './harness/client.mjs';
import { stage } from './harness/stage.mjs';

const { origin, server } = await stage();

const IDLE = [
  ['HEAD', { method: 'HEAD', headers: NAVIGATE }],
  ['OPTIONS', { method: 'OPTIONS' }],
  ['a preflight', { method: 'OPTIONS', headers: { Origin: 'https://x.test', 'Access-Control-Request-Method': 'PUT' } }],
  ['a prefetch', { headers: { ...NAVIGATE, 'Sec-Purpose': 'prefetch' } }],
  ['a prerender', { headers: { ...NAVIGATE, 'Sec-Purpose': 'prefetch;prerender' } }],
  ['an old prefetch', { headers: { ...NAVIGATE, 'X-Moz': 'prefetch' } }],
];

test('HEAD, OPTIONS and prefetch take no place', async () => {
  for (const [name, request] of IDLE) {
    for (let i = 0; i < 3; i++) {
      const response = await ask(server.port, { host: 'one-1.test', ...request });
      assert.deepEqual(response.setCookies, [], name);
    }
  }
  const visitor = new Visitor(server);
  assert.equal((await visitor.open('http://one-1.test/')).state, undefined, 'the only place is free');
  assert.equal(visitor.claims('http://one-1.test/').sub, '1', 'and no number was given');
});

test('nor do they change a waiting visitor’s place', async () => {
  const url = 'http://one-2.test/';
  await new Visitor(server).open(url);
  const visitor = new Visitor(server);
  await visitor.queue(url);
  for (const [name, { method, headers }] of IDLE) {
    const response = await visitor.open(url, { method, headers });
    assert.deepEqual(response.setCookies, [], name);
  }
  const head = await visitor.open(url, { method: 'HEAD' });
  assert.equal(head.state, 'queueing');
  assert.equal(head.body.length, 0);
  const prefetch = await visitor.open(url, { headers: { 'Sec-Purpose': 'prefetch' } });
  assert.equal(prefetch.status, 503);
  assert.equal(prefetch.state, 'speculative');
});

describe('behind a full room', () => {
  before(async () => {
    for (const host of ['one-3.test', 'cors.test']) await new Visitor(server).open(`http://${host}/`);
  });

  test('a form gets the page, which says that nothing was sent', async () => {
    origin.requests.length = 0;
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', ...NAVIGATE };
    const response = await ask(server.port, { host: 'one-3.test', method: 'POST', headers: form, body: 'card=1' });
    assert.equal(response.status, 200);
    assert.match(response.headers['content-type'], /^text\/html/);
    assert.match(response.text, /What you entered has not been sent/);
    assert.equal(origin.requests.length, 0);
    const page = await ask(server.port, { host: 'one-3.test', headers: NAVIGATE });
    assert.match(page.headers['content-type'], /^text\/html/);
    assert.doesNotMatch(page.text.replace(/<script[^]*?<\/script>/g, ''), /What you entered has not been sent/);
  });

  test('a program’s order gets 503 with JSON and a time to come back', async () => {
    origin.requests.length = 0;
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const headers = { 'Content-Type': 'application/json', Accept: '*/*' };
      const response = await ask(server.port, { host: 'one-3.test', method, headers, body: '{"order":1}' });
      assert.equal(response.status, 503, method);
      assert.equal(response.json().cfWaitingRoom.inWaitingRoom, true);
      assert.equal(response.headers['retry-after'], '2');
      assert.equal(response.state, 'joining');
    }
    assert.equal(origin.requests.length, 0);
  });

  test('a listed origin’s script may read the answer, credentials and all', async () => {
    for (const listed of ['https://app.example', 'https://shop.example:8443']) {
      for (const [method, status] of [['GET', 200], ['POST', 503]]) {
        const headers = { Origin: listed, Accept: '*/*', 'Sec-Fetch-Mode': 'cors' };
        const response = await ask(server.port, { host: 'cors.test', method, headers });
        assert.equal(response.status, status);
        assert.equal(response.json().cfWaitingRoom.inWaitingRoom, true);
        assert.equal(response.headers['access-control-allow-origin'], listed);
        assert.equal(response.headers['access-control-allow-credentials'], 'true');
        assert.match(response.headers['access-control-expose-headers'], /Anteroom-Status/);
        assert.match(response.headers.vary, /\bOrigin\b/);
      }
    }
  });

  test('no other origin’s script may', async () => {
    for (const other of [
      'null', 'https://app.example.evil.test', 'https://evilapp.example', 'https://app.example:443',
      'http://app.example', 'https://app.example/', 'https://APP.example', '*', 'https://shop.example',
    ]) {
      const response = await ask(server.port, { host: 'cors.test', headers: { Origin: other, ...PROGRAM } });
      for (const name of Object.keys(response.headers)) assert.doesNotMatch(name, /^access-control-/, other);
      assert.match(response.headers.vary, /\bOrigin\b/);
    }
  });

  test('a listed origin’s preflight is answered at the edge', async () => {
    origin.requests.length = 0;
    const response = await ask(server.port, {
      host: 'cors.test',
      method: 'OPTIONS',
      headers: {
        Origin: 'https://app.example',
        'Access-Control-Request-Method': 'PUT',
        'Access-Control-Request-Headers': 'content-type, x-order',
      },
    });
    assert.equal(response.status, 204);
    assert.equal(response.state, 'preflight');
    assert.equal(response.headers['access-control-allow-origin'], 'https://app.example');
    assert.equal(response.headers['access-control-allow-methods'], 'PUT');
    assert.equal(response.headers['access-control-allow-headers'], 'content-type, x-order');
    assert.equal(response.headers['access-control-allow-credentials'], 'true');
    assert.equal(origin.requests.length, 0);
  });

  test('another origin’s preflight and a plain OPTIONS go to the origin', async () => {
    origin.requests.length = 0;
    const preflight = { Origin: 'https://other.example', 'Access-Control-Request-Method': 'PUT' };
    for (const headers of [preflight, {}]) {
      const response = await ask(server.port, { host: 'cors.test', method: 'OPTIONS', headers });
      assert.equal(response.text, 'the site');
      assert.equal(response.state, undefined);
    }
    assert.equal(origin.requests.length, 2);
  });
});

test('leaving takes a POST of a page of the same origin', async () => {
  const url = 'http://one-4.test/';
  const visitor = new Visitor(server);
  await visitor.open(url);
  origin.requests.length = 0;
  const leave = (method, headers) => visitor.open(`${url}.anteroom/leave`, { method, headers });
  assert.equal((await leave('GET', NAVIGATE)).status, 405);
  assert.equal((await leave('POST', { 'Sec-Fetch-Site': 'cross-site' })).status, 403);
  assert.equal((await leave('POST', { Origin: 'http://evil.test' })).status, 403);
  assert.equal((await visitor.open(url)).state, undefined, 'still in');
  assert.equal((await leave('POST', { Origin: 'http://one-4.test' })).state, 'left');
  assert.equal(origin.seen('/.anteroom/leave').length, 0);
});
