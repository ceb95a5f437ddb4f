// What an admitted or uncovered request is to the origin, and its answer to the visitor: unchanged.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';

import { NAVIGATE, Visitor, ask, connect } from './harness/client.mjs';
import { stage } from './harness/stage.mjs';

const { origin, server } = await stage();

/** The cookie of a fresh pass. */
async function pass(url) {
  const visitor = new Visitor(server);
  await visitor.open(url);
  return visitor.cookie(url);
}

const COVERED = 'walk.test';
const UNCOVERED = 'elsewhere.test';

/** Header fields as a sorted list, without those of the connection (RFC 9110 section 7.6.1). */
function fields(rawHeaders) {
  const pairs = [];
  for (let i = 0; i < rawHeaders.length; i += 2) pairs.push([rawHeaders[i].toLowerCase(), rawHeaders[i + 1]]);
  const hop = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'date'];
  return pairs.filter(([name]) => !hop.includes(name)).sort();
}

for (const host of [COVERED, UNCOVERED]) {
  const kind = host === COVERED ? 'an admitted' : 'an uncovered';
  const cookies = async () => (host === COVERED ? await pass(`http://${host}/`) : 'a=1');

  test(`${kind} request reaches the origin byte for byte`, async () => {
    const headers = [
      'Cookie', await cookies(),
      'Cookie', 'own=%zz; __cfwaitingroomish="x"',
      'Accept-Encoding', 'br;q=0.5, gzip',
      'X-Twice', 'one',
      'X-Twice', 'two',
      'X-Empty', '',
      'X-Latin', 'caf\u00e9',
      'Authorization', 'Basic eDp5',
      'Range', 'bytes=0-9',
      'If-None-Match', 'W/"x"',
      'User-Agent', 'test/1.0',
      'Content-Type', 'application/octet-stream',
    ];
    const body = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7) % 256));
    const path = '/%41/a%2Fb//c;p=1/%zz/~%7E/%2e/%C3%bc?q=%20+%c3&&=;\\&r=[1]|^';
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
      origin.requests.length = 0;
      const response = await ask(server.port, { host, path, method, headers, body });
      assert.equal(response.status, 200);
      const [request] = origin.requests;
      assert.equal(request.method, method);
      assert.equal(request.host, host);
      assert.equal(request.url, path);
      assert.ok(request.body.equals(body), 'the body');
      const expected = fields(['Host', host, ...headers]);
      const joined = (list) => {
        const map = new Map();
        for (const [name, value] of list) {
          map.set(name, map.has(name) ? `${map.get(name)}${name === 'cookie' ? '; ' : ', '}${value}` : value);
        }
        return Object.fromEntries(map);
      };
      const [got, want] = [joined(fields(request.rawHeaders)), joined(expected)];
      // Lines that repeat may arrive joined: with a comma, by which Cookie is no exception here.
      got.cookie = got.cookie.split(/[;,] /).join('; ');
      assert.deepEqual(got, want);
    }
  });

  test(`the answer to ${kind} request comes back as it is`, async () => {
    const packed = gzipSync('x'.repeat(10_000));
    origin.on('/packed', {
      status: 203,
      headers: [
        'Content-Encoding', 'gzip',
        'Content-Type', 'text/html',
        'ETag', '"abc"',
        'Cache-Control', 'public, s-maxage=60',
        'CDN-Cache-Control', 'max-age=600',
        'Set-Cookie', 'a=1; Path=/; HttpOnly',
        'Set-Cookie', 'b=2; Expires=Wed, 09 Jun 2100 10:18:14 GMT',
        'X-Twice', 'one',
        'X-Twice', 'two',
      ],
      body: packed,
    });
    const headers = { Cookie: await cookies(), 'Accept-Encoding': 'gzip' };
    const response = await ask(server.port, { host, path: '/packed', headers });
    assert.equal(response.status, 203);
    assert.ok(response.body.equals(packed), 'the very bytes');
    assert.equal(gunzipSync(response.body).length, 10_000);
    assert.equal(response.headers['content-encoding'], 'gzip');
    assert.deepEqual(response.setCookies, ['a=1; Path=/; HttpOnly', 'b=2; Expires=Wed, 09 Jun 2100 10:18:14 GMT']);
    assert.equal(response.headers['cache-control'], 'public, s-maxage=60');
    assert.equal(response.headers['cdn-cache-control'], 'max-age=600');
    assert.equal(response.headers.etag, '"abc"');
    assert.equal(response.headers['x-twice'], 'one, two');
    assert.equal(response.state, undefined);
  });

  test(`a redirect of the origin is not followed for ${kind} request`, async () => {
    origin.on('/moved', { status: 302, headers: ['Location', 'http://other.test/x?y=1', 'Set-Cookie', 'a=1'] });
    origin.requests.length = 0;
    const response = await ask(server.port, { host, path: '/moved', headers: { Cookie: await cookies() } });
    assert.equal(response.status, 302);
    assert.equal(response.headers.location, 'http://other.test/x?y=1');
    assert.deepEqual(response.setCookies, ['a=1']);
    assert.equal(origin.seen('/moved').length, 1);
    assert.equal(origin.seen('/x').length, 0);
  });

  test(`statuses and answers without a body survive for ${kind} request`, async () => {
    const cookie = await cookies();
    for (const status of [204, 304, 404, 410, 500, 503]) {
      origin.on('/status', { status, headers: ['X-Said', 'origin'], body: [204, 304].includes(status) ? undefined : 'no' });
      const response = await ask(server.port, { host, path: '/status', headers: { Cookie: cookie } });
      assert.equal(response.status, status);
      assert.equal(response.headers['x-said'], 'origin');
      assert.equal(response.state, undefined);
    }
    const head = await ask(server.port, { host, path: '/status', method: 'HEAD', headers: { Cookie: cookie } });
    assert.equal(head.status, 503);
    assert.equal(head.body.length, 0);
  });

  test(`a WebSocket works both ways on ${kind} request`, async () => {
    const socket = await connect(server.port, host, '/socket', { Cookie: await cookies() });
    assert.equal(socket.status, 101);
    assert.equal(await socket.say('hello'), 'echo: hello');
    assert.equal(await socket.say('again'), 'echo: again');
    socket.socket.destroy();
  });
}

test('bodies stream in both directions', async () => {
  const cookie = await pass('http://walk.test/');
  origin.on('/stream', async (request, response) => {
    response.writeHead(200, ['Content-Type', 'text/plain']);
    for await (const chunk of request) response.write(`got ${chunk}`);
    response.end('.');
  });
  const { request: send } = await import('node:http');
  const heard = [];
  await new Promise((resolve, reject) => {
    const request = send(
      { host: '127.0.0.1', port: server.port, path: '/stream', method: 'POST', setHost: false, headers: ['Host', 'walk.test', 'Cookie', cookie, 'Transfer-Encoding', 'chunked'] },
      (response) => {
        response.setEncoding('utf8');
        response.on('data', (text) => {
          heard.push(text);
          // The second half is sent only when the first has come back.
          if (heard.join('') === 'got first') request.end('second');
        });
        response.on('end', resolve);
      },
    );
    request.on('error', reject);
    request.write('first');
  });
  assert.equal(heard.join(''), 'got firstgot second.');
});

test('a WebSocket without a pass is refused with a status, and takes no place', async () => {
  origin.requests.length = 0;
  const refused = await connect(server.port, 'one-1.test', '/socket');
  assert.equal(refused.status, 503);
  assert.equal(refused.state, 'waiting');
  assert.ok(Number(refused.headers['retry-after']) > 0);
  assert.equal(origin.requests.length, 0);
  const newcomer = new Visitor(server);
  assert.equal((await newcomer.open('http://one-1.test/')).state, undefined, 'the place is still free');
});

test('well-known paths for machines are never covered', async () => {
  await new Visitor(server).open('http://one-2.test/');
  for (const path of ['/robots.txt', '/.well-known/acme-challenge/token']) {
    const response = await ask(server.port, { host: 'one-2.test', path, headers: NAVIGATE });
    assert.equal(response.text, 'the site', path);
  }
  assert.equal((await ask(server.port, { host: 'one-2.test', headers: NAVIGATE })).state, 'joining');
});

test('ORIGIN sends requests elsewhere and leaves the rest of them alone', async () => {
  const { Workerd } = await import('./harness/workerd.mjs');
  const other = await Workerd.start(origin, { vars: { ORIGIN: 'http://preview.test:8080/' } });
  try {
    origin.requests.length = 0;
    const response = await ask(other.port, { host: 'walk.test', path: '/a%2Fb?c=%20', headers: NAVIGATE });
    assert.equal(response.text, 'the site');
    assert.equal(origin.requests[0].host, 'preview.test:8080');
    assert.equal(origin.requests[0].url, '/a%2Fb?c=%20');
  } finally {
    await other.stop();
  }
});
