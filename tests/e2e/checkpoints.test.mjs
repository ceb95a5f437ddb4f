// Placed Workers as checkpoints: each is a runtime of its own on this machine, and what it connects to takes
// as long as its part of the world is far away.

import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { after, before, test } from 'node:test';

import { Copies } from './harness/copies.mjs';
import { ANTEROOM_API, Operator } from './harness/operator.mjs';
import { Origin } from './harness/origin.mjs';
import { Pop, TIER_SECRET } from './harness/pops.mjs';
import { until } from './harness/until.mjs';
import { Workerd } from './harness/workerd.mjs';

/** The checkpoints, with how long a handshake with an origin in Frankfurt takes from there, in milliseconds. */
const WORLD = { fra: { colo: 'FRA', rtt: 2 }, gru: { colo: 'GRU', rtt: 190 }, jnb: { colo: 'JNB', rtt: 160 } };
const names = Object.keys(WORLD);

let origin, copies, server, operator;
const around = {};
const pops = {};

/** What lies behind a checkpoint: it tells where that is, and answers handshakes late. */
async function surroundings({ colo, rtt }) {
  const behind = await Origin.start();
  behind.handshakes = [];
  behind.on('/cdn-cgi/trace', (request, response) => response.end(`fl=1\ncolo=${colo}\n`));
  behind.server.on('connect', async (request, socket) => {
    behind.handshakes.push(request.url);
    socket.on('error', () => {});
    await pause(rtt);
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
  });
  return behind;
}

before(async () => {
  origin = await Origin.start();
  copies = await Copies.start();
  // The objects of location hints do not learn where they are, so that they report nothing.
  origin.on('/cdn-cgi/trace', { status: 404 });
  for (const name of names) {
    around[name] = await surroundings(WORLD[name]);
    pops[name] = await Pop.start({ origin: around[name].port, tier: name });
  }
  const files = ['AWS', 'AZURE', 'GCP', 'OCI'].map((vendor) => [`ANTEROOM_RANGES_${vendor}`, 'http://files.test/none']);
  const vars = {
    ANTEROOM_API,
    ANTEROOM_TIER_KEYS: `t:${TIER_SECRET.toString('base64url')}`,
    ANTEROOM_PROBE_PORT: '9',
    ...Object.fromEntries(files),
  };
  const tiers = Object.fromEntries(names.map((name) => [`TIER_${name.toUpperCase()}`, pops[name]]));
  server = await Workerd.start(origin, { vars, copies, tiers, cron: true });
  operator = new Operator(server);
});
after(async () => {
  await server?.stop();
  await Promise.all(Object.values(pops).map((pop) => pop.stop()));
  for (const one of [origin, copies, ...Object.values(around)]) one?.stop();
});

async function cron() {
  const response = await fetch(`http://127.0.0.1:${server.cronPort}/`);
  assert.equal((await response.json()).outcome, 'ok', server.log.join('\n'));
}

test('placed Workers time handshakes, those that are no tiers too, and each says from where', async () => {
  const hint = { origin_ip: '127.0.0.1', vendor: 'aws', region: 'eu-central-1' };
  await operator.call('PUT', '/origin/cloud_regions/127.0.0.1', hint);
  await cron();
  for (const name of names) assert.deepEqual(around[name].handshakes, Array(5).fill('127.0.0.1:9'), name);
  await until('it is published', () => copies.kv.has('atlas'));
  const { times } = JSON.parse(copies.kv.get('atlas')).origins['127.0.0.1'];
  assert.deepEqual(Object.keys(times).sort(), names);
  for (const name of names) assert.ok(times[name] >= WORLD[name].rtt - 1, `${name}: ${times[name]} ms`);
  assert.ok(times.fra < times.gru && times.fra < times.jnb, JSON.stringify(times));
});

test('one that gives no report is named in the log', async () => {
  const silent = () => server.log.filter((text) => text.includes('checkpoints_silent'));
  // No binding leads to it.
  await until('the first round is told', () => silent().some((line) => / lhr"/.test(line)));
  await pops.gru.kill();
  await cron();
  // The others were asked a moment ago, and take no second errand for as long as a marker holds.
  await until('the second round is told', () => silent().some((line) => /gru/.test(line)));
});
