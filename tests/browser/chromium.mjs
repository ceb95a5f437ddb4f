// Chromium as the tests need it: it finds the hosts of the rooms on this machine, and notes what a page
// asks for and what goes wrong in it.

import { after } from 'node:test';

import { chromium } from 'playwright-core';

const FLAGS = ['--disable-gpu', '--disable-quic', '--disable-component-update', '--disable-sync'];

/**
 * Starts Chromium for a test file and ends it with the file. `hosts` gives names of hosts the ports on
 * this machine where they are served. `CHROMIUM` is the path of another than Debian's.
 */
export async function launch(hosts = {}) {
  const origins = Object.keys(hosts).map((host) => `http://${host}`);
  const rules = Object.entries(hosts).map(([host, port]) => `MAP ${host} 127.0.0.1:${port}`);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      ...FLAGS,
      `--host-resolver-rules=${rules}`,
      // As on HTTPS; or else Sec-Fetch-Mode and the like would not be sent.
      `--unsafely-treat-insecure-origin-as-secure=${origins}`,
    ],
    chromiumSandbox: false,
  });
  after(() => browser.close());
  return browser;
}

/** Somebody with cookies of their own. `options` are those of the browser's context. */
export async function visitor(browser, options = {}) {
  const context = await browser.newContext({ locale: 'en-US', ...options });
  context.setDefaultTimeout(20_000);
  const tabs = [];
  return {
    context,
    /** A tab at the URL, whose `page.clock` may be turned if so wanted. */
    async open(url, { clock = false } = {}) {
      const tab = await watched(context);
      tabs.push(tab);
      if (clock) await tab.page.clock.install();
      tab.response = await tab.page.goto(url);
      return tab;
    },
    /** What went wrong in any tab. */
    faults: () => tabs.flatMap((tab) => tab.faults),
    leave: () => context.close(),
  };
}

/**
 * A tab with `faults`, `requests` as `{url, type, method, poll, navigation}` and the `titles` that it has
 * had. What breaks the page's own content security policy is an error on the console.
 */
async function watched(context) {
  const page = await context.newPage();
  const tab = { page, faults: [], requests: [], titles: [] };
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) tab.faults.push(message.text());
  });
  page.on('pageerror', (error) => tab.faults.push(String(error)));
  page.on('requestfailed', (request) => tab.faults.push(`${request.url()}: ${request.failure().errorText}`));
  page.on('request', (request) =>
    tab.requests.push({
      url: request.url(),
      type: request.resourceType(),
      method: request.method(),
      poll: request.headers()['anteroom-poll'] === '1',
      navigation: request.isNavigationRequest(),
    }),
  );
  await page.exposeFunction('titled', (title) => tab.titles.push(title));
  await page.addInitScript(() => {
    const tell = () => document.title && globalThis.titled(document.title);
    new MutationObserver(tell).observe(document, { subtree: true, childList: true, characterData: true });
  });
  tab.navigations = () => tab.requests.filter((request) => request.navigation).length;
  tab.polls = () => tab.requests.filter((request) => request.poll).length;
  return tab;
}

/** The part of the page with the id, once it shows the text. */
export const shows = (tab, id, text) => tab.page.locator(`#${id}`, { hasText: text }).waitFor();
