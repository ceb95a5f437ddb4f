// The atlas: hints by the API, the clouds' files and rounds of probes by cron, and what is published of them.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { Copies } from './harness/copies.mjs';
import { ANTEROOM_API, Operator } from './harness/operator.mjs';
import { Origin } from './harness/origin.mjs';
import { until } from './harness/until.mjs';
import { Workerd } from './harness/workerd.mjs';

/** The codes of the data centres in which the checkpoints are, one after the other. */
const COLOS = ['FRA', 'IAD', 'SIN', 'SYD', 'NRT', 'LHR', 'SEA', 'EWR'];

/** Real files, where they lie beside the project; each with the form that `atlas/vendors.csv` has. */
const DATA = new URL('../../../shared/data/clouds/', import.meta.url).pathname;
const REAL = {
  aws: 'aws-ip-ranges-2026-08-22.json',
  azure: 'microsoft-azure-ip-ranges.json',
  gcp: 'google-cloud-ip-ranges.json',
  oci: 'oracle-cloud-ip-ranges.json',
};
const SMALL = {
  aws: { prefixes: [{ ip_prefix: '18.34.0.0/19', region: 'us-east-1', network_border_group: 'us-east-1' }], ipv6_prefixes: [] },
  azure: { values: [{ name: 'AzureCloud.germanywc', properties: { region: 'germanywc', addressPrefixes: ['20.52.64.0/18'] } }] },
  gcp: { prefixes: [{ ipv4Prefix: '34.80.0.0/15', scope: 'asia-east1' }] },
  oci: { regions: [{ region: 'us-ashburn-1', cidrs: [{ cidr: '129.213.0.0/18' }] }] },
};
const vendors = Object.keys(SMALL);
const isReal = existsSync(DATA);
const file = (vendor) => (isReal ? readFileSync(join(DATA, REAL[vendor])) : JSON.stringify(SMALL[vendor]));

let origin, copies, server, operator;
const handshakes = [];

before(async () => {
  origin = await Origin.start();
  copies = await Copies.start();
  // workerd asks for a TCP connection by CONNECT, as everything else that leaves.
  origin.server.on('connect', (request, socket) => {
    handshakes.push(request.url);
    socket.on('error', () => {});
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
  });
  for (const vendor of vendors) {
    origin.on(`/${vendor}`, (request, response) => {
      if (request.headers['if-none-match'] === `"${vendor}-1"`) return void response.writeHead(304).end();
      response.writeHead(200, { ETag: `"${vendor}-1"`, 'Content-Type': 'application/json' }).end(file(vendor));
    });
  }
  let traced = 0;
  origin.on('/cdn-cgi/trace', (request, response) => response.end(`fl=1\ncolo=${COLOS[traced++ % COLOS.length]}\n`));
  const urls = vendors.map((vendor) => [`ANTEROOM_RANGES_${vendor.toUpperCase()}`, `http://files.test/${vendor}`]);
  const vars = { ANTEROOM_API, ANTEROOM_PROBE_PORT: '9', ...Object.fromEntries(urls) };
  server = await Workerd.start(origin, { vars, copies, cron: true });
  operator = new Operator(server);
});
after(async () => {
  await server?.stop();
  copies?.stop();
  origin?.stop();
});

/** A cron trigger, to its end. */
async function cron() {
  const response = await fetch(`http://127.0.0.1:${server.cronPort}/`);
  const result = await response.json();
  assert.equal(result.outcome, 'ok', server.log.join('\n'));
}

const hints = '/origin/cloud_regions';
const published = (key) => JSON.parse(copies.kv.get(key));

test('a hint is kept and published', async () => {
  const body = { origin_ip: '127.0.0.1', vendor: 'aws', region: 'us-east-1' };
  const made = await operator.call('PUT', `${hints}/127.0.0.1`, body);
  assert.deepEqual({ ...made, modified_on: undefined }, { ...body, modified_on: undefined });
  await operator.call('PUT', `${hints}/10.0.0.1`, { ...body, origin_ip: '10.0.0.1' });
  await until('it is published', () => copies.kv.has('hints') && published('hints').version === 2);
  assert.equal(published('hints').hints['127.0.0.1'].region, 'aws:us-east-1');
  await server.kill9();
  await server.restart();
  assert.deepEqual(await operator.call('GET', `${hints}/127.0.0.1`), made);
  const [newest, oldest] = await operator.call('GET', '/anteroom/audit');
  assert.deepEqual([newest.to, oldest.to], ['cloud_regions/10.0.0.1', 'cloud_regions/127.0.0.1']);
  assert.deepEqual(oldest.fields, [{ field: '127.0.0.1', to: '"aws:us-east-1"' }]);
  assert.ok(oldest.by.length > 0);
});

test('a cron reads the files and holds a round of probes', async (t) => {
  const begin = performance.now();
  await cron();
  t.diagnostic(`files (${isReal ? 'real' : 'small'}) and probes: ${Math.round(performance.now() - begin)} ms`);
  for (const vendor of vendors) assert.equal(origin.seen(`/${vendor}`).length, 1, vendor);
  await until('it is published', () => copies.kv.has('ranges') && copies.kv.has('atlas'));
  const bytes = Buffer.from(copies.kv.get('ranges')).length;
  t.diagnostic(`table: ${bytes} bytes`);
  assert.ok(bytes <= 200_000);
  // Five handshakes from each checkpoint, and none with a private address.
  assert.deepEqual([...new Set(handshakes)], ['127.0.0.1:9']);
  assert.equal(handshakes.length, 5 * COLOS.length);
  const { origins } = published('atlas');
  assert.deepEqual(Object.keys(origins), ['127.0.0.1']);
  assert.deepEqual(Object.keys(origins['127.0.0.1'].times).sort(), ['ewr', 'fra', 'iad', 'lhr', 'nrt', 'sea', 'sin', 'syd']);
  // Whoever answers within milliseconds from everywhere is everywhere.
  assert.equal(origins['127.0.0.1'].verdict.verdict, 'anycast');
});

test('the next cron asks for no file again so soon', async () => {
  await cron();
  for (const vendor of vendors) assert.equal(origin.seen(`/${vendor}`).length, 1, vendor);
  await until('it is published', () => published('atlas').version === 2);
});

test('all is there after the object was made anew', async () => {
  const before = { ...published('atlas') };
  await server.kill9();
  await server.restart();
  await cron();
  for (const vendor of vendors) assert.equal(origin.seen(`/${vendor}`).length, 1, vendor);
  await until('it is published', () => published('atlas').version > before.version);
});
