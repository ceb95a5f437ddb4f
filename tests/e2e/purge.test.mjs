// Purges, by Cloudflare's own client.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import Cloudflare from 'cloudflare';

import { CachedHost } from './harness/cached.mjs';
import { Copies } from './harness/copies.mjs';
import { ANTEROOM_API, Operator, TOKEN, ZONE } from './harness/operator.mjs';
import { stage } from './harness/stage.mjs';
import { until } from './harness/until.mjs';

const copies = await Copies.start();
after(() => copies.stop());
// Two isolates of a data centre.
const { origin, server } = await stage({ copies, isolates: 2, vars: { ANTEROOM_API } });
const site = new CachedHost({ origin, server, copies });
const other = new CachedHost({ origin, server: { port: server.ports[1] }, copies });
const operator = new Operator(server);

/** The client speaks to api.test by the port of this machine. */
const client = new Cloudflare({
  apiToken: TOKEN,
  baseURL: 'http://api.test/client/v4',
  maxRetries: 0,
  fetch: async (url, { method, body }) => {
    const path = new URL(url).pathname.split(ZONE)[1];
    const response = await operator.ask(method, path, body && JSON.parse(body));
    return new Response(response.text, { status: response.status, headers: { 'Content-Type': 'application/json' } });
  },
});
const purge = (what) => client.cache.purge({ zone_id: ZONE, ...what });

const ALL = { '/p/one?a': 'one', '/p/two': 'two, x', '/q/two': 'y,two' };

/** What the origin says from now on. */
function say(body) {
  for (const [path, tags] of Object.entries(ALL)) {
    origin.on(path.split('?')[0], { headers: ['Cache-Control', 'max-age=600', 'Cache-Tag', tags], body });
  }
}

const CASES = {
  'a file': [{ files: ['http://cached.test/p/one?a'] }, ['/p/one?a']],
  'a tag': [{ tags: ['TWO'] }, ['/p/two', '/q/two']],
  'a prefix': [{ prefixes: ['cached.test/q'] }, ['/q/two']],
  'a host': [{ hosts: ['cached.test'] }, ['/p/one?a', '/p/two', '/q/two']],
  everything: [{ purge_everything: true }, ['/p/one?a', '/p/two', '/q/two']],
  nothing: [{ tags: ['other'] }, []],
};

for (const [name, [what, gone]] of Object.entries(CASES)) {
  test(`purging ${name}`, async () => {
    copies.cache.clear();
    say('old');
    // What came within five seconds of the purges up to now is purged; what comes later is not.
    for (const path of Object.keys(ALL)) {
      await until(`${path} is stored for good`, async () => (await site.get(path)).cache.includes(';hit'));
    }
    say('new');
    assert.equal((await purge(what)).id, ZONE);
    for (const path of gone) {
      for (const isolate of [site, other]) {
        await until(`${path} is new`, async () => (await isolate.get(path)).text === 'new');
      }
    }
    for (const isolate of [site, other]) {
      for (const path of Object.keys(ALL)) {
        assert.equal((await isolate.get(path)).text, gone.includes(path) ? 'new' : 'old', path);
      }
    }
  });
}

test('what is wrong is refused as Cloudflare does', async () => {
  for (const [body, code] of [[{}, 1012], [{ purge_everything: false }, 1013], [{ files: 'x' }, 1014], [{ files: ['x'] }, 1015]]) {
    await assert.rejects(purge(body), (error) => error.status === 400 && error.errors[0].code === code);
  }
});
