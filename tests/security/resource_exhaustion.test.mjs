// Attack: requests that are dear to answer: huge cookies, thousands of them, long URLs, long lists of
// languages and types, layers of percent-encoding.
//
// Defence: everything is read once, from front to back: a path is decoded in one pass however many
// layers it has (src/site/path.rs), lists are walked and not collected (src/gate/accept.rs,
// src/page/language/choose.rs, src/gate/cookie.rs). What costs little each, such as the number of
// cookies that are tried, is tested beside its code.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { NAVIGATE, Visitor, ask } from '../e2e/harness/client.mjs';
import { stage } from '../e2e/harness/stage.mjs';

const { server } = await stage();

/** Generous for a busy machine; what is quadratic takes many times as long. */
const SOON = 2_000;

const url = 'http://one-1.test/';
const visitor = new Visitor(server);

before(async () => {
  await visitor.open(url);
});

const name = '__cfwaitingroom';
const KB = 1024;

const COOKIES = {
  'one of 100 KB': `x=${'a'.repeat(100 * KB)}`,
  'a token of 100 KB': `${name}=${'a'.repeat(100 * KB)}`,
  'a token of 100 KB in segments': `${name}=${'a.'.repeat(50 * KB)}`,
  'a token with a huge payload': () => {
    const [header, , signature] = visitor.token(url).split('.');
    return `${name}=${header}.${'e30'.repeat(30 * KB)}.${signature}`;
  },
  'thousands of others': Array.from({ length: 9_000 }, (_, i) => `c${i}=1`).join('; '),
  'thousands of ours': Array.from({ length: 4_000 }, () => `${name}=a.b.c`).join('; '),
  'nothing but separators': ';,='.repeat(30 * KB),
  'names that are nearly ours': `${name}x=1; `.repeat(4_000),
  'quotes without end': `${name}="`.repeat(4_000),
};

for (const [what, cookie] of Object.entries(COOKIES)) {
  test(`cookies: ${what}`, async () => {
    const junk = typeof cookie === 'function' ? cookie() : cookie;
    const start = performance.now();
    const newcomer = await ask(server.port, { host: 'one-1.test', headers: { ...NAVIGATE, Cookie: junk } });
    assert.ok(performance.now() - start < SOON);
    assert.equal(newcomer.state, 'joining');
    assert.equal(newcomer.status, 200);
    // Whoever was let in still is, whatever came to stand behind the pass.
    const own = `${visitor.cookie(url)}; ${junk}`;
    const admitted = await ask(server.port, { host: 'one-1.test', headers: { ...NAVIGATE, Cookie: own } });
    assert.equal(admitted.text, 'the site');
    assert.ok(performance.now() - start < 2 * SOON);
  });
}

const REQUESTS = {
  'a long query': { path: `/?${'a=b&'.repeat(15 * KB)}` },
  'a long path': { path: `/${'a'.repeat(60 * KB)}` },
  'a path of many segments': { path: '/a'.repeat(30 * KB) },
  'a path of many empty segments': { path: '/'.repeat(60 * KB) },
  'many dots': { path: '/x/..;'.repeat(10 * KB) },
  'layers of percent-encoding': { path: `/%${'25'.repeat(30 * KB)}41` },
  'many encoded bytes': { path: `/${'%2541'.repeat(12 * KB)}` },
  'a long Accept': { headers: { Accept: 'application/json;q=0.1, text/*;q=0.2, '.repeat(1_500) } },
  'a long Accept without commas': { headers: { Accept: `text/html;${'a=b;'.repeat(15 * KB)}` } },
  'a long Accept-Language': { headers: { ...NAVIGATE, 'Accept-Language': 'xx-YY;q=0.9, '.repeat(4_500) } },
  'a long language tag': { headers: { ...NAVIGATE, 'Accept-Language': 'a-'.repeat(30 * KB) } },
  'a long Origin': { host: 'cors.test', headers: { ...NAVIGATE, Origin: `https://${'a'.repeat(60 * KB)}` } },
  'a long preflight': {
    host: 'cors.test',
    method: 'OPTIONS',
    headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT', 'Access-Control-Request-Headers': 'x,'.repeat(30 * KB) },
  },
  'many header fields': { headers: Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`X-Field-${i}`, 'x'.repeat(60)])) },
  'a long Purpose': { headers: { ...NAVIGATE, Purpose: 'x;'.repeat(30 * KB), Upgrade: 'y,'.repeat(3 * KB) } },
};

for (const [what, request] of Object.entries(REQUESTS)) {
  test(`requests: ${what}`, async () => {
    await new Visitor(server).open('http://cors.test/');
    const start = performance.now();
    const response = await ask(server.port, { host: 'one-1.test', headers: NAVIGATE, ...request });
    assert.ok(performance.now() - start < SOON, `${performance.now() - start} ms`);
    assert.ok(response.status < 500, `${response.status} ${response.text.slice(0, 100)}`);
    assert.ok(response.state, 'it is held like any other');
    assert.equal((await visitor.open(url)).text, 'the site');
  });
}
