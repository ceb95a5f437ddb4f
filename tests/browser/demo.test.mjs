// The demo as a visitor sees it: the Worker of rooms.toml in front of the demo shop, with two places.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startShop } from '../../demo/shop.mjs';
import { Workerd } from '../e2e/harness/workerd.mjs';
import { launch, shows, visitor } from './chromium.mjs';

const browser = await launch();

/** Starts the shop behind its room, both as new. Answers the URL. */
async function opened(t) {
  const shop = await startShop(0);
  const server = await Workerd.start({ port: shop.address().port }, { built: 'build' });
  t.after(async () => {
    await server.stop();
    shop.closeAllConnections();
    shop.close();
  });
  return `http://localhost:${server.port}/`;
}

const inside = (tab) => tab.page.getByRole('heading', { name: 'You are in. The sale is on.' }).waitFor();

/** Four visitors for two places, and one of the first two leaves. */
async function queued(t, options) {
  const url = await opened(t);
  const visitors = [];
  const tabs = [];
  for (let i = 0; i < 4; i++) {
    visitors.push(await visitor(browser, options));
    tabs.push(await visitors[i].open(url));
    if (i < 2) await inside(tabs[i]);
    else await shows(tabs[i], 'position', new RegExp(`^${i - 1}$`));
  }
  const [first, , third, fourth] = tabs;
  await shows(third, 'ahead', 'You are next.');
  await shows(fourth, 'ahead', '1 person is ahead of you.');
  assert.match(await fourth.page.title(), /^2 · You are in line$/);

  await first.page.getByRole('button', { name: 'Leave the shop' }).click();
  await shows(first, 'heading', 'You have left the line');

  await inside(third);
  await shows(fourth, 'position', /^1$/);
  await shows(fourth, 'ahead', 'You are next.');
  assert.match(await fourth.page.title(), /^1 · You are in line$/);
  for (const each of visitors) assert.deepEqual(each.faults(), []);
  return { url, third, fourth };
}

test('the third of three visitors waits, and enters by itself', async (t) => {
  const { url, third, fourth } = await queued(t);

  assert.ok(third.titles.includes('It is your turn'), `the title tells: ${third.titles}`);
  assert.equal(third.navigations(), 2, 'the waiting page and then the shop');
  assert.equal(fourth.navigations(), 1, 'it has counted down where it stands');
  assert.ok(Number(await fourth.page.locator('#progress').getAttribute('value')) > 0, 'progress is made');

  const [page, ...others] = fourth.requests;
  assert.equal(page.url, url);
  assert.ok(
    others.every((request) => request.poll && request.url === url),
    `the page is one request: ${JSON.stringify(others)}`,
  );
});

test('the same without JavaScript', async (t) => {
  const { third, fourth } = await queued(t, { javaScriptEnabled: false });

  assert.equal(third.polls() + fourth.polls(), 0, 'no script runs');
  assert.ok(fourth.navigations() > 2, 'the page reloads itself');
});
