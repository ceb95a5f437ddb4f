// Attack: put markup or script into the waiting page through the request: path, query, Host,
// languages, cookies; on the default page and inside the <script> of a room's own.
//
// Defence: no value of the request is a variable of the page (src/page/view.rs, src/gate/answer.rs:
// `leave_url` is built from the room's routes), and what is printed is escaped (src/page/template).

import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { NAVIGATE, Visitor, ask } from '../e2e/harness/client.mjs';
import { stage } from '../e2e/harness/stage.mjs';

const { server } = await stage();

const HOSTS = ['plain.test', 'scripted.test', 'any-case.test'];
const BASE = { 'plain.test': '', 'scripted.test': '', 'any-case.test': '/shop' };

/** Cookies of visitors in line: with a place, the page says the most. */
const places = {};

before(async () => {
  for (const host of HOSTS) {
    const url = `http://${host}${BASE[host]}/`;
    await new Visitor(server).open(url);
    const visitor = new Visitor(server);
    await visitor.queue(url);
    places[host] = visitor.cookie(url);
  }
});

const MARK = 'in7ected';
const PAYLOADS = [
  `<script>${MARK}</script>`, `"><img src=x onerror=${MARK}>`, `'-${MARK}-'`, `</script><script>${MARK}//`,
  `{{${MARK}}}{{{script}}}`, `\${${MARK}}`, `;${MARK}//`, `-->${MARK}<!--`, `&#x3c;${MARK}`, `\\u003c${MARK}`,
];

/** The page without what changes with time. */
const still = (text) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');

for (const host of HOSTS) {
  test(`nothing of the request is on the page of ${host}`, async () => {
    const base = BASE[host];
    const browser = { ...NAVIGATE, Cookie: places[host] };
    const plain = await ask(server.port, { host, path: `${base}/`, headers: browser });
    assert.equal(plain.state, 'queueing');
    for (const payload of PAYLOADS) {
      const encoded = encodeURIComponent(payload);
      const raw = payload.replace(/[<>"`{}\\ ^|]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
      const requests = {
        path: { path: `${base}/${encoded}` },
        'path in part': { path: `${base}/${raw}` },
        query: { path: `${base}/?a=${encoded}&${encoded}=1` },
        language: { path: `${base}/`, headers: { ...browser, 'Accept-Language': payload } },
        'language tag': { path: `${base}/`, headers: { ...browser, 'Accept-Language': `en-US, ${payload};q=0.9` } },
        agent: { path: `${base}/`, headers: { ...browser, 'User-Agent': payload, Referer: `http://${host}/${payload}` } },
        cookie: { path: `${base}/`, headers: { ...browser, Cookie: `a=${payload}; ${places[host]}; __cfwaitingroom=${payload}` } },
        origin: { path: `${base}/`, headers: { ...browser, Origin: payload, 'X-Forwarded-Host': payload } },
        accept: { path: `${base}/`, headers: { ...browser, Accept: `text/html, ${payload}` } },
      };
      for (const [where, request] of Object.entries(requests)) {
        const response = await ask(server.port, { host, headers: browser, ...request });
        assert.equal(response.state, 'queueing', where);
        assert.doesNotMatch(response.text, new RegExp(MARK), `${where}: ${payload}`);
        assert.doesNotMatch(response.rawHeaders.join('\n'), new RegExp(MARK), `${where}: ${payload}`);
        assert.equal(still(response.text), still(plain.text), `${where}: ${payload}`);
        assert.equal(response.headers['x-content-type-options'], 'nosniff');
      }
    }
  });
}

test('a Host that is markup is no covered host', async () => {
  for (const host of ['plain.test"><script>', '<script>.plain.test', "plain.test'"]) {
    const response = await ask(server.port, { host, headers: NAVIGATE }).catch(() => undefined);
    if (response?.state) assert.doesNotMatch(response.text, /plain\.test["']|<script>\.plain/);
  }
});

test('the default page’s policy allows no script but its own', async () => {
  const page = await ask(server.port, { host: 'plain.test', headers: NAVIGATE });
  const policy = page.headers['content-security-policy'];
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'sha256-/);
  assert.doesNotMatch(policy, /unsafe/);
});

test('a poll’s answer is JSON and says nothing of the request', async () => {
  for (const payload of PAYLOADS) {
    const poll = await ask(server.port, {
      host: 'plain.test',
      path: `/${encodeURIComponent(payload)}?${encodeURIComponent(payload)}`,
      headers: { 'Anteroom-Poll': '1', Accept: 'text/html', 'Accept-Language': payload, Cookie: places['plain.test'] },
    });
    assert.equal(poll.headers['content-type'], 'application/json');
    assert.doesNotMatch(poll.text, new RegExp(MARK));
  }
});
