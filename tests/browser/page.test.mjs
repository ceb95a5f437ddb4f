// What the waiting page's script does in a real browser, and what it leaves to it.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Visitor } from '../e2e/harness/client.mjs';
import { stage } from '../e2e/harness/stage.mjs';
import { until } from '../e2e/harness/until.mjs';
import { launch, shows, visitor } from './chromium.mjs';

const { origin, server } = await stage();
const ROOMS = [1, 2, 3, 4, 5, 6, 7].map((number) => `one-${number}.test`);
const HOSTS = [...ROOMS, 'unrevoked.test', 'uncovered.test'];
const browser = await launch(Object.fromEntries(HOSTS.map((host) => [host, server.port])));
origin.on('/', { headers: ['Content-Type', 'text/html'], body: '<title>The site</title><h1>The site</h1>' });

/** Takes the room's only place. Answers who has it. */
async function taken(url) {
  const first = new Visitor(server);
  assert.equal((await first.open(url)).state, undefined, 'the place was free');
  return first;
}

test('the script calls the header’s reload off', async () => {
  const url = 'http://one-1.test/';
  await taken(url);
  const guest = await visitor(browser);
  const tab = await guest.open(url);
  await shows(tab, 'position', /^1$/);
  assert.equal(tab.response.headers().refresh, '2', 'the header is there');

  // Every poll comes about as late as a reload would.
  const polls = tab.polls();
  await until('three more polls', () => tab.polls() >= polls + 3);
  assert.equal(tab.navigations(), 1);
  assert.deepEqual(guest.faults(), []);
  await guest.leave();
});

test('without the script the header reloads the page', async () => {
  const url = 'http://one-2.test/';
  const first = await taken(url);
  const guest = await visitor(browser, { javaScriptEnabled: false });
  const tab = await guest.open(url);
  await shows(tab, 'position', /^1$/);
  await until('two more reloads', () => tab.navigations() >= 4);
  await first.leave(url);
  await tab.page.getByRole('heading', { name: 'The site' }).waitFor();
  await guest.leave();
});

test('the button gives the place up', async () => {
  const url = 'http://one-3.test/';
  await taken(url);
  const guest = await visitor(browser);
  const tab = await guest.open(url);
  await shows(tab, 'position', /^1$/);
  assert.equal((await guest.context.cookies(url)).length, 1);

  await tab.page.getByRole('button', { name: 'Leave the line' }).click();
  await shows(tab, 'heading', 'You have left the line');
  assert.equal(await tab.page.locator('#leave').isVisible(), false);
  assert.deepEqual(await guest.context.cookies(url), []);
  assert.deepEqual(guest.faults(), []);

  // The place is free for the next in line.
  const next = new Visitor(server);
  await next.queue(url);
  // The edge may tell what it knew before for a second or two.
  await until('the next is the first', async () => (await next.poll(url)).json().cfWaitingRoom?.position === 1);
  await guest.leave();
});

test('asks again when the tab is shown, restored or online again', async () => {
  const url = 'http://unrevoked.test/';
  await taken(url);
  const guest = await visitor(browser);
  const tab = await guest.open(url, { clock: true });
  await shows(tab, 'position', /^1$/);
  const answered = () => tab.page.waitForResponse((response) => response.request().headers()['anteroom-poll'] === '1');

  // From here on the page's time stands still. The jump makes a poll due; the next is in 4.5 s or later.
  await Promise.all([answered(), tab.page.clock.pauseAt(Date.now() + 20_000)]);
  for (const event of ['visibilitychange', 'pageshow', 'online']) {
    await tab.page.clock.runFor(2_500);
    const polls = tab.polls();
    await Promise.all([answered(), tab.page.evaluate(happens, event)]);
    assert.equal(tab.polls(), polls + 1, event);
    await tab.page.evaluate(happens, event);
    assert.equal(tab.polls(), polls + 1, `${event} again, just after`);
  }
  await guest.leave();
});

/** Runs in the page. */
function happens(event) {
  if (event === 'visibilitychange') document.dispatchEvent(new Event(event));
  else if (event === 'pageshow') dispatchEvent(new PageTransitionEvent(event, { persisted: true }));
  else dispatchEvent(new Event(event));
}

test('a tab that was closed and opened again has its place', async () => {
  const url = 'http://one-4.test/';
  await taken(url);
  const guest = await visitor(browser);
  await shows(await guest.open(url), 'position', /^1$/);
  const behind = await visitor(browser);
  await shows(await behind.open(url), 'position', /^2$/);

  for (const page of guest.context.pages()) await page.close();
  const again = await guest.open(url);
  await shows(again, 'position', /^1$/);
  assert.equal(again.polls(), 0, 'at once');
  const second = await guest.open(url);
  await shows(second, 'position', /^1$/);
  await guest.leave();
  await behind.leave();
});

test('going back to the page shows the place of now', async () => {
  const url = 'http://one-5.test/';
  await taken(url);
  const ahead = new Visitor(server);
  await ahead.queue(url);
  const guest = await visitor(browser);
  const tab = await guest.open(url);
  await shows(tab, 'position', /^2$/);
  await tab.page.goto('http://uncovered.test/');
  await ahead.leave(url);
  await tab.page.goBack();
  await shows(tab, 'position', /^1$/);
  await guest.leave();
});

test('says what has changed to a screen reader', async () => {
  const url = 'http://one-6.test/';
  await taken(url);
  const guest = await visitor(browser);
  const tab = await guest.open(url);
  const live = tab.page.getByRole('status');
  assert.equal(await live.getAttribute('aria-live'), 'polite');
  assert.equal(await live.textContent(), '', 'the page as it came is read anyway');
  await live.filter({ hasText: 'You are in line. ' }).waitFor();
  assert.match(await live.textContent(), /Your place in line: 1\. You are next\.$/);

  const bar = tab.page.getByRole('progressbar', { name: 'How far you have come' });
  assert.equal(await bar.getAttribute('max'), '100');
  assert.match(await bar.getAttribute('value'), /^\d+$/);
  await guest.leave();
});

test('without a connection it says so, and goes on when there is one again', async () => {
  const url = 'http://one-7.test/';
  const first = await taken(url);
  const guest = await visitor(browser);
  const tab = await guest.open(url);
  await shows(tab, 'position', /^1$/);
  const alert = tab.page.getByRole('alert');
  assert.equal(await alert.isVisible(), false);

  await guest.context.setOffline(true);
  await alert.filter({ hasText: 'The connection is down.' }).waitFor();
  assert.equal(await tab.page.locator('#position').textContent(), '1', 'the place stays on show');
  await guest.context.setOffline(false);
  await alert.waitFor({ state: 'hidden' });
  await first.leave(url);
  await tab.page.getByRole('heading', { name: 'The site' }).waitFor();
  await guest.leave();
});
