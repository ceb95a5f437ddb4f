// How the waiting page looks: facts that hold on every screen and in every language, with a picture each.
//
// The pictures go to target/pictures. Those in docs/images are some of them, reduced to 256 colours.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Visitor } from '../e2e/harness/client.mjs';
import { stage } from '../e2e/harness/stage.mjs';
import { until } from '../e2e/harness/until.mjs';
import { contrasts } from './contrast.mjs';
import { launch, shows, visitor } from './chromium.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const folder = join(root, 'target/pictures');
mkdirSync(folder, { recursive: true });

const { server } = await stage();
const SITE = 'http://one-1.test/';
const browser = await launch({ 'one-1.test': server.port });

const WIDE = { width: 960, height: 760 };
const PHONE = { width: 360, height: 760 };
const SMALLEST = { width: 320, height: 568 };

/** The cookies of the one visitor who is in all the pictures: 13th in line, with 12 of 20 still ahead. */
let storageState;
let line;

before(async () => {
  const inside = new Visitor(server);
  await inside.open(SITE);
  line = Array.from({ length: 20 }, () => new Visitor(server));
  for (const each of line) await each.queue(SITE);
  const guest = await visitor(browser);
  const tab = await guest.open(SITE);
  await shows(tab, 'position', /^21$/);

  // Six lose patience; two get in, of whom one goes on: that makes a speed.
  for (const each of line.splice(2, 6)) await each.leave(SITE);
  await inside.leave(SITE);
  const [next, last] = line.splice(0, 2);
  await enters(next);
  await next.leave(SITE);
  await enters(last);
  await shows(tab, 'position', /^13$/);
  await tab.page.locator('#wait', { hasText: 'minutes' }).waitFor({ timeout: 40_000 });
  storageState = await guest.context.storageState();
  await guest.leave();
});

// Those who do not poll are soon no longer counted.
beforeEach(() => Promise.all(line.map((each) => each.poll(SITE))));

const enters = (each) =>
  until('the turn', async () => (await each.poll(SITE)).json().cfWaitingRoom.admitted, { every: 1_000 });

const overflow = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;

for (const { name, locale, number = '13', heading, ahead, viewport = WIDE, ...options } of [
  { name: 'waiting', locale: 'en-US', heading: 'You are in line', ahead: '12 people are ahead of you.' },
  {
    name: 'waiting-dark-narrow',
    locale: 'en-US',
    heading: 'You are in line',
    ahead: '12 people are ahead of you.',
    viewport: PHONE,
    colorScheme: 'dark',
  },
  { name: 'waiting-ja', locale: 'ja-JP', heading: '順番にご案内しています', ahead: '12' },
  { name: 'waiting-ar', locale: 'ar-EG', number: '١٣', heading: 'أنت في طابور الانتظار', ahead: 'أمامك ١٢ شخصًا.' },
]) {
  test(`${name}: ${locale} in ${viewport.width} pixels`, async () => {
    const guest = await visitor(browser, { locale, viewport, deviceScaleFactor: 2, storageState, ...options });
    const tab = await guest.open(SITE);
    // As the server wrote it, and as the script writes it over.
    for (const by of ['server', 'script']) {
      const html = tab.page.locator('html');
      assert.equal(await html.getAttribute('lang'), locale);
      assert.equal(await html.getAttribute('dir'), locale === 'ar-EG' ? 'rtl' : 'ltr');
      assert.equal(await tab.page.locator('#position').textContent(), number, by);
      assert.equal(await tab.page.locator('#heading').textContent(), heading, by);
      assert.match(await tab.page.locator('#ahead').textContent(), new RegExp(ahead), by);
      assert.equal(await tab.page.title(), `${number} · ${heading}`, by);
      assert.equal(await tab.page.evaluate(overflow), 0);
      if (by === 'server') await shows(tab, 'updated', /./);
    }
    await tab.page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
    assert.deepEqual(guest.faults(), []);
    await guest.leave();
  });
}

for (const locale of ['en-US', 'ja-JP', 'es-ES', 'de-DE', 'fr-FR', 'ar-EG']) {
  test(`${locale} fits into 320 pixels`, async () => {
    const guest = await visitor(browser, { locale, viewport: SMALLEST, storageState });
    const tab = await guest.open(SITE);
    await shows(tab, 'updated', /./);
    assert.equal(await tab.page.locator('html').getAttribute('lang'), locale);
    assert.equal(await tab.page.evaluate(overflow), 0);
    await tab.page.screenshot({ path: join(folder, `smallest-${locale}.png`), fullPage: true });
    await guest.leave();
  });
}

for (const colorScheme of ['light', 'dark']) {
  test(`every text has enough contrast when ${colorScheme}`, async () => {
    const guest = await visitor(browser, { colorScheme, storageState });
    const tab = await guest.open(SITE);
    const all = await tab.page.evaluate(contrasts);
    assert.ok(all.length > 10, 'texts are found');
    const dim = all.filter((each) => each.ratio < 4.5);
    assert.deepEqual(dim, []);
    await guest.leave();
  });
}
