// Cloudflare's own client for Node makes every call of hints of cloud regions that it has.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import Cloudflare from 'cloudflare';

import { READ, start, WRITE, ZONE } from './api.mjs';

const zone = { zone_id: ZONE };
const aws = (origin_ip, region = 'us-east-1') => ({ origin_ip, vendor: 'aws', region });
const called = new Set();
let api, hints;

before(async () => {
  api = await start();
  const client = new Cloudflare({ apiToken: WRITE, baseURL: `${api.url}/client/v4`, maxRetries: 0 });
  hints = new Proxy(client.cache.originCloudRegions, {
    get(target, name) {
      called.add(name);
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
});
after(() => api?.stop());

async function list(page) {
  const all = [];
  for await (const item of page) all.push(item);
  return all;
}

test('one by one', async () => {
  assert.deepEqual(await list(hints.list(zone)), []);
  const made = await hints.update('2001:db8:0::1', { ...zone, ...aws('2001:DB8::1') });
  assert.equal(made.origin_ip, '2001:db8::1');
  assert.match(made.modified_on, /^\d{4}-\d\d-\d\dT/);
  assert.deepEqual(await hints.get('2001:db8::1', zone), made);
  assert.deepEqual(await hints.update('2001:db8::1', { ...zone, ...aws('2001:db8::1') }), made, 'idempotent');
  assert.deepEqual(await hints.delete('2001:db8::1', zone), { origin_ip: '2001:db8::1' });
});

test('many at once', async () => {
  const body = Array.from({ length: 100 }, (_, n) => aws(`192.0.2.${n}`));
  body[7].region = 'us-east1';
  const done = await hints.bulkUpdate({ ...zone, body });
  assert.equal(done.succeeded.length, 99);
  assert.equal(done.failed[0].origin_ip, '192.0.2.7');
  assert.match(done.failed[0].error, /did you mean aws:us-east-1/);
  assert.equal((await list(hints.list({ ...zone, per_page: 30 }))).length, 99, 'page by page');
  // The client has no parameter for the body of this call.
  const gone = await hints.bulkDelete(zone, { body: ['192.0.2.1', '192.0.2.7'] });
  assert.deepEqual([gone.succeeded.length, gone.failed.length], [1, 1]);
});

test('supported regions', async () => {
  const { obtained_codes, vendors } = await hints.supportedRegions(zone);
  assert.equal(obtained_codes, true);
  assert.deepEqual(Object.keys(vendors).sort(), ['aws', 'azure', 'gcp', 'oci', 'r2']);
  const virginia = vendors.aws.find(({ name }) => name === 'us-east-1');
  assert.deepEqual(virginia.upper_tier_colos, ['IAD', 'EWR']);
});

test('errors are those that the client knows', async () => {
  await assert.rejects(hints.get('203.0.113.1', zone), (error) => {
    assert.ok(error instanceof Cloudflare.NotFoundError);
    assert.equal(error.errors[0].code, 1142);
    return true;
  });
  await assert.rejects(hints.delete('203.0.113.1', zone), (error) => error.errors[0].code === 1163);
  const other = hints.update('203.0.113.1', { ...zone, ...aws('203.0.113.2') });
  await assert.rejects(other, Cloudflare.BadRequestError);
  const reader = new Cloudflare({ apiToken: READ, baseURL: `${api.url}/client/v4`, maxRetries: 0 });
  await assert.rejects(
    reader.cache.originCloudRegions.delete('192.0.2.2', zone),
    Cloudflare.PermissionDeniedError,
  );
});

test('no call was left out', () => {
  const base = Object.getPrototypeOf(Object.getPrototypeOf(new Cloudflare({ apiToken: 'x' }).cache.originCloudRegions));
  const there = Object.getOwnPropertyNames(base).filter((name) => name !== 'constructor');
  assert.ok(there.length >= 7, there.join());
  assert.deepEqual(there.filter((name) => !called.has(name)), []);
});
