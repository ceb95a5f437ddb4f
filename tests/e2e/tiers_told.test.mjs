// What operators are told of upper tiers, and what they say: a hint through the API changes which tier is
// asked, the API explains why, and what was asked is counted.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { ask } from './harness/client.mjs';
import { ANTEROOM_API, Operator } from './harness/operator.mjs';
import { Origin } from './harness/origin.mjs';
import { Pop } from './harness/pops.mjs';
import { until } from './harness/until.mjs';

/** A host that names no tier, and where its origin is. */
const [host, address] = ['by-key.test', '192.0.2.9'];
const cacheable = { headers: ['Cache-Control', 'max-age=600'], body: 'the goods' };

let origin, fra, lhr, front, operator;
before(async () => {
  origin = await Origin.start();
  [fra, lhr] = await Promise.all(['fra', 'lhr'].map((tier) => Pop.start({ origin: origin.port, tier })));
  front = await Pop.start({ origin: origin.port, tiers: { TIER_FRA: fra, TIER_LHR: lhr }, vars: { ANTEROOM_API } });
  operator = new Operator(front);
});
after(async () => {
  await Promise.all([front, fra, lhr].map((pop) => pop?.stop()));
  origin?.stop();
});

const explain = (of) => operator.call('GET', `/anteroom/tiers/explain?origin=${of}`);

test('an origin of which nothing is known is said to be one, in words', async () => {
  const told = await explain(address);
  assert.match(told.verdict, /is not known/);
  assert.deepEqual(told.choices.map(({ host, primary }) => [host, primary]), [[host, null]]);
  assert.ok(told.text.includes(told.choices[0].text));
  assert.equal((await operator.ask('GET', '/anteroom/tiers/explain')).status, 400);
  assert.equal((await operator.ask('GET', `/anteroom/tiers/explain?origin=${address}`, undefined, { token: 'x'.repeat(40) })).status, 401);
});

test('a hint is published, chosen by, and explained', async () => {
  const hint = { origin_ip: address, vendor: 'aws', region: 'eu-west-2' };
  await operator.call('PUT', `/origin/cloud_regions/${address}`, hint);
  await until('it is published', () => front.copies.kv.get('hints')?.includes('eu-west-2'));
  // An isolate goes by what it has read for a minute; one that is new reads first.
  await front.kill();
  await front.restart();
  const told = await explain(address);
  assert.deepEqual(told.choices.map(({ primary, fallback }) => [primary, fallback]), [['lhr', 'fra']]);
  assert.match(told.evidence[0], /A hint says that it is in .*eu-west-2/);
  origin.on('/hinted', cacheable);
  const response = await ask(front.port, { host, path: '/hinted' });
  assert.equal(response.text, 'the goods');
  assert.match(response.headers['cache-status'], /^upper-lhr;fwd=uri-miss;.*detail="lhr, hint aws:eu-west-2/);
});

test('what was asked of whom is counted', async () => {
  const counts = async () => {
    const { hosts } = await operator.call('GET', '/anteroom/tiers/counts');
    return hosts.find((one) => one.host === host);
  };
  const path = '/counted';
  origin.on(path, cacheable);
  // Isolates tell what they have counted every ten seconds, with a request that comes then.
  const { origins, counts: found } = await until('a hit is counted', async () => {
    await ask(front.port, { host, path });
    const told = await counts();
    return told?.counts.hits > 0 && told.counts.tiers.lhr && told;
  });
  assert.deepEqual(origins, [address]);
  assert.ok(found.requests > found.hits, JSON.stringify(found));
  assert.ok(found.tiers.lhr.requests >= 1, JSON.stringify(found));
  assert.equal(found.fallbacks, 0);
});
