// What chaos must find: each promise, broken on purpose.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, test } from 'node:test';

import { broken } from '../../chaos/chaos.mjs';
import { probe } from '../../chaos/probe.mjs';
import { Record } from '../../crowd/record.mjs';

const ROOM = { url: 'http://room.test/', active: 2, minute: 3, session: 20 };

/** A record of visits that were let in at these seconds, and stayed for ten. */
function admittedAt(...seconds) {
  const record = new Record();
  seconds.forEach((second, i) => {
    const at = record.begin + second * 1000;
    Object.assign(record.visit(i), { number: i + 1, admission: { sent: at, received: at + 1 }, until: at + 10_000 });
  });
  return record;
}

const found = (record, more = {}) => broken({ record, probes: [{ honoured: 0, faults: [] }], free: 2, room: ROOM, ended: 'all are done', ...more }).join('\n');

test('nothing is found where nothing is broken', () => {
  assert.equal(found(admittedAt(0, 1, 20)), '');
});

test('a pass or an admission too many is found', () => {
  assert.match(found(admittedAt(0, 1, 2)), /3 valid passes at once, the limit is 2/);
  assert.match(found(admittedAt(0, 11, 22, 33)), /4 admissions within 60 s, the limit is 3/);
});

test('more passes honoured than there are places are found, and one that should not be', () => {
  assert.match(found(admittedAt(0), { probes: [{ honoured: 1, faults: [] }, { honoured: 3, faults: ['number 1: …'] }] }), /3 passes were honoured at once.*\nnumber 1/s);
});

test('a number given twice is found', () => {
  const record = admittedAt(0, 20);
  record.visits[1].number = 1;
  assert.match(found(record), /number 1 was given to visitors 0 and 1/);
});

test('places that do not come back, or too many, are found', () => {
  assert.match(found(admittedAt(0), { free: 1 }), /1 newcomers were let in .* into 2 places/);
  assert.match(found(admittedAt(0), { free: 3 }), /3 newcomers/);
});

test('who does not come through is found', () => {
  assert.match(found(admittedAt(0), { ended: 'the time is up', free: undefined }), /not everybody came through/);
});

test('a probe counts what is honoured and good, and finds what is honoured and over', async () => {
  /** Honours every pass that does not say no. */
  const server = createServer((request, response) => {
    assert.equal(request.headers['sec-purpose'], 'prefetch');
    if (request.headers.cookie.includes('no')) response.writeHead(503, { 'Anteroom-Status': 'speculative' });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const now = performance.now();
  const good = { number: 1, pass: 'a', until: now + 60_000, expires: now + 61_000 };
  const visits = [
    good,
    { ...good, number: 2, pass: 'no' },
    { ...good, number: 3, until: now - 9_000, left: now - 8_000 },
    { ...good, number: 4, until: now - 900, left: now - 800 },
    { ...good, number: 5, until: now - 9_000, expires: now - 8_000 },
    { ...good, number: 6, pass: 'no', until: now - 9_000, expires: now - 8_000 },
    { number: 7 },
  ];
  const { honoured, faults } = await probe({ port: server.address().port, url: ROOM.url, visits, cookieName: 'c' });
  assert.equal(honoured, 1);
  assert.deepEqual(faults, ['number 3: a pass that was given back is honoured', 'number 5: a pass that is over is honoured']);
});
