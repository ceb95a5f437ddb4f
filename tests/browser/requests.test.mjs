// Requests that only a browser makes as it makes them: scripts of other origins, and forms.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Visitor } from '../e2e/harness/client.mjs';
import { stage } from '../e2e/harness/stage.mjs';
import { until } from '../e2e/harness/until.mjs';
import { launch, shows, visitor } from './chromium.mjs';

const { origin, server } = await stage();
const browser = await launch({
  'cors.test': server.port,
  'one-1.test': server.port,
  'shop.test': server.port,
  'app.cors.test': origin.port,
  'other.cors.test': origin.port,
  'elsewhere.test': origin.port,
});

const HTML = ['Content-Type', 'text/html'];
origin.on('/', { headers: HTML, body: '<title>The app</title><link rel="icon" href="data:,">' });

/** Runs in a page: fetches the URL as a script there does. */
async function fetched([url, init]) {
  try {
    const response = await fetch(url, { credentials: 'include', ...init });
    return {
      status: response.status,
      state: response.headers.get('Anteroom-Status'),
      retryAfter: response.headers.get('Retry-After'),
      room: (await response.json()).cfWaitingRoom,
    };
  } catch (error) {
    return { error: error.name };
  }
}

test('a script of a listed origin sees the JSON, gets a number and its turn', async () => {
  const url = 'http://cors.test/api';
  const first = new Visitor(server);
  await first.open(url);
  const guest = await visitor(browser);
  const app = await guest.open('http://app.cors.test/');
  const ask = (init) => app.page.evaluate(fetched, [url, init]);

  const newcomer = await ask();
  assert.deepEqual([newcomer.status, newcomer.state, newcomer.retryAfter], [200, 'joining', '2']);
  const waiting = await ask();
  assert.equal(waiting.state, 'queueing');
  assert.equal(waiting.room.position, 1, 'the cookie was kept and sent');

  const order = { method: 'PUT', headers: { 'Content-Type': 'application/json', 'X-Cart': '7' }, body: '{}' };
  const refused = await ask(order);
  assert.deepEqual([refused.status, refused.state, refused.room.position], [503, 'queueing', 1]);
  assert.deepEqual(origin.seen('/api', 'cors.test').length, 1, 'the first visitor’s alone');

  await first.leave(url);
  const allowed = ['Access-Control-Allow-Origin', 'http://app.cors.test', 'Access-Control-Allow-Credentials', 'true'];
  origin.on('/api', { headers: ['Content-Type', 'application/json', ...allowed], body: '{}' });
  const entered = await until('the turn', async () => {
    const answer = await ask();
    return answer.state === null && answer;
  });
  assert.deepEqual(entered, { status: 200, state: null, retryAfter: null, room: undefined });
  await guest.leave();
});

test('a script of another origin sees a network error', async () => {
  for (const [page, url] of [
    ['http://other.cors.test/', 'http://cors.test/'],
    ['http://elsewhere.test/', 'http://cors.test/'],
    ['http://app.cors.test/', 'http://one-1.test/'],
  ]) {
    await new Visitor(server).open(url);
    const guest = await visitor(browser);
    const app = await guest.open(page);
    assert.deepEqual(await app.page.evaluate(fetched, [url, {}]), { error: 'TypeError' }, `${page} asks ${url}`);
    await guest.leave();
  }
});

test('a form that meets the room is not sent, and the page comes by GET', async () => {
  origin.on('/form', {
    headers: HTML,
    body: '<link rel="icon" href="data:,"><form method="post" action="/shop/order"><input name="card" value="1"><button>Buy</button></form>',
  });
  const url = 'http://shop.test/shop/order';
  const first = new Visitor(server);
  await first.open(url);
  origin.requests.length = 0;

  const guest = await visitor(browser);
  const tab = await guest.open('http://shop.test/form');
  await tab.page.getByRole('button', { name: 'Buy' }).click();
  await shows(tab, 'notice', 'What you entered has not been sent.');
  await shows(tab, 'position', /^1$/);
  assert.ok(await tab.page.locator('#notice').isVisible(), 'the notice stays');

  await first.open('http://shop.test/shop/.anteroom/leave', { method: 'POST' });
  await tab.page.getByText('the site').waitFor();
  assert.equal(tab.page.url(), url);
  assert.deepEqual(origin.seen('/shop/order').map((request) => request.method), ['GET']);
  assert.deepEqual(guest.faults(), []);
  await guest.leave();
});
