// Attack: get what the origin has said to another visitor out of the cache: an answer to a cookie, to
// credentials, to an assertion of who was admitted, or one that carries a pass.
//
// Defence: what is for one visitor is never stored (src/cache/entry.rs), and what was not said to everybody is
// served to nobody who names themselves (src/cache/asked.rs). Passes are added to what comes out of the cache
// (src/worker/passage.rs).

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { CachedHost } from '../e2e/harness/cached.mjs';
import { Visitor, ask } from '../e2e/harness/client.mjs';
import { Copies } from '../e2e/harness/copies.mjs';
import { stage } from '../e2e/harness/stage.mjs';
import { until } from '../e2e/harness/until.mjs';

const copies = await Copies.start();
after(() => copies.stop());
const { origin, server } = await stage({ copies });
const site = new CachedHost({ origin, server, copies });

const FRESH = ['Cache-Control', 'max-age=600'];
const SECRET = 'of one visitor';

/** The origin says the secret to one, and nothing to the next. */
async function assertNotShared(path, headers, mine = {}, host = 'cached.test') {
  origin.on(path, { headers, body: SECRET });
  const one = await ask(server.port, { host, path, headers: mine });
  assert.equal(one.text, SECRET);
  assert.match(one.headers['cache-status'], /detail="/, 'why it is not stored');
  origin.on(path, { headers: [], body: 'of nobody' });
  const other = await ask(server.port, { host, path });
  assert.equal(other.text, 'of nobody', path);
  assert.doesNotMatch(site.holds(), new RegExp(SECRET));
}

test('an answer that is for one visitor is not stored', async () => {
  const cases = {
    cookie: [...FRESH, 'Set-Cookie', 'a=1'],
    'cookie-in-spite': ['Cache-Control', 'public, s-maxage=600', 'Set-Cookie', 'a=1'],
    'cookie-targeted': ['CDN-Cache-Control', 'public, max-age=600', 'Set-Cookie', 'a=1'],
    private: ['Cache-Control', 'private, max-age=600'],
    'private-in-capitals': ['Cache-Control', 'max-age=600, PRIVATE'],
    'private-in-part': ['Cache-Control', 'max-age=600, private="x"'],
    'private-on-a-line': ['Cache-Control', 'max-age=600', 'Cache-Control', 'private'],
    'no-store': ['Cache-Control', 'max-age=600, No-Store'],
    'vary-cookie': [...FRESH, 'Vary', 'Accept, COOKIE'],
    'vary-star': [...FRESH, 'Vary', '*'],
    command: [...FRESH, 'Cf-Waiting-Room-Command', 'revoke'],
  };
  for (const [name, headers] of Object.entries(cases)) await assertNotShared(`/p-${name}`, headers);
});

test('an answer to credentials is not stored, and a stored one is not given for it', async () => {
  await assertNotShared('/auth', FRESH, { Authorization: 'Bearer x' });
  await site.fill('/open', { headers: FRESH, body: 'for nobody in particular' });
  origin.on('/open', { headers: FRESH, body: 'for the bearer' });
  assert.equal((await site.get('/open', { Authorization: 'Bearer x' })).text, 'for the bearer');
  assert.equal((await site.get('/open')).text, 'for nobody in particular');
});

test('an answer to an assertion is not stored', async () => {
  const host = 'cached-asserted.test';
  origin.on('/mine', (request, response) => {
    response.writeHead(200, FRESH);
    response.end(request.headers['anteroom-assertion'] ?? 'nobody');
  });
  const [one, other] = [new Visitor(server), new Visitor(server)];
  const said = async (visitor) => (await visitor.open(`http://${host}/mine`)).text;
  const first = await said(one);
  assert.notEqual(first, 'nobody');
  assert.notEqual(await said(other), first);
  assert.ok(!site.holds().includes(first));
});

test('a pass goes to its visitor alone, though the answer is from the cache', async () => {
  const url = 'http://cached-one.test/shared';
  origin.on('/shared', { headers: FRESH, body: 'shared' });
  const one = new Visitor(server);
  const before = copies.stored;
  const first = await one.open(url);
  assert.equal(first.setCookies.length, 1);
  assert.match(first.headers['cache-control'], /private/);
  await until('it is stored', () => copies.stored > before);
  assert.doesNotMatch(site.holds(), /__cfwaitingroom|set-cookie/i);
  const again = await one.open(url);
  assert.match(again.headers['cache-status'], /hit/);
  assert.deepEqual(again.setCookies, []);
});
