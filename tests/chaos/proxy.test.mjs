// The bad line of `make chaos`: what it loses, and what it must not.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, test } from 'node:test';

import { Proxy } from '../../chaos/proxy.mjs';
import { Connections } from '../../crowd/browser.mjs';

let heard = 0;
const server = createServer((request, response) => {
  heard += 1;
  response.end('x'.repeat(200_000));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const proxy = await Proxy.start(() => 0.5);
proxy.target = server.address().port;
const connections = new Connections(`http://127.0.0.1:${proxy.port}`, 2);
after(async () => {
  await connections.close();
  proxy.stop();
  server.closeAllConnections();
  server.close();
});

async function ask(over = connections) {
  const { result, lost } = await over.send({ path: '/', method: 'GET' }, ({ body }) => body.text());
  return lost ? 'lost' : result.length;
}

test('a line that loses nothing hands on everything', async () => {
  const before = heard;
  assert.deepEqual([await ask(), await ask(), await ask()], [200_000, 200_000, 200_000]);
  assert.equal(heard - before, 3);
});

test('a lost answer is that of a request that was delivered', async () => {
  const before = heard;
  proxy.losses = { requests: 0, answers: 1 };
  assert.equal(await ask(), 'lost');
  assert.equal(heard - before, 1);
  assert.equal(proxy.lost.answers, 1);
  proxy.losses = { requests: 0, answers: 0 };
  assert.equal(await ask(), 200_000, 'and the next one is handed on');
});

test('a lost request never arrives', async () => {
  const before = heard;
  proxy.losses = { requests: 1, answers: 0 };
  assert.equal(await ask(), 'lost');
  assert.equal(heard, before);
  proxy.losses = { requests: 0, answers: 0 };
});

test('with nothing behind it every connection is cut', async () => {
  const port = proxy.target;
  const fresh = new Connections(`http://127.0.0.1:${proxy.port}`, 1);
  proxy.target = undefined;
  assert.equal(await ask(fresh), 'lost');
  proxy.target = port;
  await fresh.close();
});
