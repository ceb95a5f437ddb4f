// Attack: look like somebody whom a bypass rule lets pass: claim another address, country or crawler,
// or spell a path so that the rule sees one place and the origin another.
//
// Defence: ip.src is CF-Connecting-IP alone and countries and crawlers come from request.cf, which no
// client sets (src/rules/field.rs); the path that rules see is the canonical one, and a path on which
// readers disagree never passes by (src/worker/rules.rs).

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { NAVIGATE, ask } from '../e2e/harness/client.mjs';
import { stage } from '../e2e/harness/stage.mjs';

const { origin, server } = await stage();

async function isKept(options) {
  origin.requests.length = 0;
  const response = await ask(server.port, { host: 'bypassed.test', headers: NAVIGATE, ...options });
  assert.notEqual(response.state, undefined, 'an answer of ours');
  assert.equal(origin.requests.length, 0);
  assert.deepEqual(response.setCookies.filter((cookie) => !cookie.includes('Max-Age=0')), []);
}

for (const [name, value] of [
  ['X-Forwarded-For', '192.0.2.77'],
  ['X-Real-IP', '192.0.2.77'],
  ['True-Client-IP', '192.0.2.77'],
  ['X-Client-IP', '192.0.2.77'],
  ['Forwarded', 'for=192.0.2.77'],
  ['CF-Connecting-IPv6', '2001:db8::1'],
  ['CF-Pseudo-IPv4', '192.0.2.77'],
  ['CF-IPCountry', 'CH'],
  ['User-Agent', 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'],
  ['User-Agent', 'Search Engine Crawler'],
  ['CF-Verified-Bot', 'true'],
  ['Anteroom-Bypass', '1'],
]) {
  test(`${name}: ${value}`, () => isKept({ headers: { ...NAVIGATE, 'CF-Connecting-IP': '198.51.100.1', [name]: value } }));
}

test('two addresses are none', async () => {
  for (const address of ['198.51.100.1, 192.0.2.77', '192.0.2.77, 198.51.100.1', '192.0.2.77 ', '192.0.2.077', '']) {
    // The runtime trims a value, as Cloudflare does.
    if (address.trim() === '192.0.2.77') continue;
    await isKept({ headers: { ...NAVIGATE, 'CF-Connecting-IP': address } });
  }
});

for (const path of [
  '/static/..;/checkout',
  '/static/..%2fcheckout',
  '/static/%2e%2e%2fcheckout',
  '/static%2f..%2fcheckout',
  '/static/..%5ccheckout',
  '/static/x/..%252f..%252fcheckout',
  '/static/../checkout',
  '/static/%2e%2e/checkout',
  '/checkout?/static/',
  '/checkout;/static/',
  '/checkout%3f/static/',
  '//evil/static/',
  '/STATIC/x',
]) {
  test(`the path ${path}`, () => isKept({ path }));
}
