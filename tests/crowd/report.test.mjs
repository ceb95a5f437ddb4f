// What a run tells: the verdicts go by what was seen, and the page needs nothing else.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { page, plot, sliding } from '../../crowd/plot.mjs';
import { OWN_WAIT, Record } from '../../crowd/record.mjs';
import { reservation } from '../../crowd/report.mjs';
import { verdicts } from '../../crowd/verdicts.mjs';

/** A run in which `count` visitors waited and came in, two a second. */
function smooth(count = 60) {
  const record = new Record();
  for (let i = 0; i < count; i += 1) {
    const at = record.begin + 500 * i;
    Object.assign(record.visit(i), { number: i + 1, waited: true, entered: at, admission: { sent: at, received: at + 5 }, until: at + 10_000 });
    record.count('entered after waiting', at);
    record.count('site', at);
    record.series('waiting')[Math.floor(i / 2)] = count - i;
    record.took('the room: claim', 20);
  }
  return record;
}

const holds = (record, limits = { active: 20, minute: 60 }, site) => verdicts({ record, limits, site }).map((verdict) => verdict.holds);

test('a run that keeps the promises is told so', () => {
  assert.deepEqual(holds(smooth()), [true, true, true, true]);
});

test('one pass, one admission or one session over the limit is a no', () => {
  assert.equal(holds(smooth(), { active: 19, minute: 60 })[0], false);
  assert.equal(holds(smooth(), { active: 20, minute: 59 })[0], false);
  assert.equal(holds(smooth(), { active: 20, minute: 60 }, { requests: [], sessions: 21 })[0], false);
  const faulty = smooth();
  faulty.fault('a pass refused', 'number 1');
  assert.equal(holds(faulty)[0], false);
});

test('a burst at the site is a no', () => {
  const record = smooth();
  for (let i = 0; i < 100; i += 1) record.count('site', record.begin + 12_000 + 40 * i);
  assert.equal(holds(record)[1], false);
});

test('a visitor who waited for nothing is a no, one who gave up is not', () => {
  const record = smooth(20);
  Object.assign(record.visit(100), { waited: true, end: 'closes' });
  assert.equal(holds(record)[2], true);
  Object.assign(record.visit(101), { waited: true, end: 'refused' });
  assert.equal(holds(record)[2], false);
});

test('a store that is slow or not reached is a no', () => {
  const slow = smooth();
  for (let i = 0; i < 10; i += 1) slow.took('the room: number', 3_000);
  assert.equal(holds(slow)[3], false);
  const away = smooth();
  away.count('unavailable');
  assert.equal(holds(away)[3], false);
});

test('nothing to judge is not a yes', () => {
  assert.deepEqual(holds(new Record()), [true, undefined, undefined, undefined]);
});

test('the page is one file, and what came from outside is escaped', () => {
  const chart = plot({ title: '<Visitors>', unit: 'people', seconds: 3, lines: [{ name: 'waiting', values: [1, , 3] }], limits: [{ name: 'limit', value: 4 }] });
  assert.match(chart, /&#60;Visitors&#62;/);
  assert.match(chart, /M64\.0 \d/);
  const html = page({ title: 'A run', about: '<script>', verdicts: [], plots: [chart], table: [['a']], notes: ['<img>'] });
  assert.doesNotMatch(html, /<script|<img|src=|href=|url\(/);
});

test('a sliding sum is the sum of the last seconds', () => {
  assert.deepEqual(sliding([1, 2, , 4], 5, 2), [1, 3, 2, 4, 4]);
});

test('a second in which nobody looked has the level that was found next', () => {
  const record = new Record();
  record.move('waiting', 3);
  record.sample(record.begin + 500);
  record.move('waiting', -1);
  record.sample(record.begin + 3_100);
  assert.deepEqual(record.series('waiting'), [3, 2, 2, 2]);
});

test('a load test that cannot keep up says that its verdicts are about itself', () => {
  const record = smooth();
  for (let i = 0; i < 100; i += 1) record.took(OWN_WAIT, 20);
  assert.equal(reservation(record), undefined);
  for (let i = 0; i < 100; i += 1) record.took(OWN_WAIT, 57_000);
  assert.match(reservation(record), /up to 57\.\d s for a free connection/);
});
