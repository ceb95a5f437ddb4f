// The judges of a crowd: what they must find, and what is no fault.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { doubles, inversions, mostAtOnce, mostWithin, overtaken, passes } from '../../crowd/visits.mjs';

/** A visit that was let in by a request from `sent` to `received`. */
const visit = (number, sent, received, more = {}) => ({ visitor: number, number, admission: { sent, received }, until: received + 100_000, ...more });

test('the most at once: what ends at a moment makes room for what begins at it', () => {
  assert.equal(mostAtOnce([]).most, 0);
  assert.equal(mostAtOnce([{ from: 0, until: 10 }, { from: 10, until: 20 }]).most, 1);
  assert.deepEqual(mostAtOnce([{ from: 0, until: 10 }, { from: 9, until: 20 }, { from: 9.5, until: 9.7 }]), { most: 3, at: 9.5 });
  assert.equal(mostAtOnce([{ from: 5, until: 5 }, { from: 7, until: 3 }]).most, 0, 'a pass that was over when it came');
});

test('the most at once equals a count by hand of every moment', () => {
  const intervals = Array.from({ length: 200 }, (_, i) => ({ from: (i * 37) % 101, until: ((i * 37) % 101) + ((i * 13) % 29) + 1 }));
  const moments = Array.from({ length: 140 }, (_, at) => intervals.filter(({ from, until }) => from <= at && at < until).length);
  assert.equal(mostAtOnce(intervals).most, Math.max(...moments));
});

test('the most within a window counts only what happened in it for sure', () => {
  const moment = (sent, received) => ({ sent, received });
  assert.equal(mostWithin([], 60), 0);
  assert.equal(mostWithin([moment(0, 1), moment(30, 31), moment(58, 59)], 60), 3);
  assert.equal(mostWithin([moment(0, 1), moment(30, 31), moment(58, 61)], 60), 2, 'the last may have been later');
  assert.equal(mostWithin([moment(0, 1), moment(60, 60.5)], 60), 1);
});

test('passes run from when they were held to when they were surely good', () => {
  const visits = [visit(1, 0, 5), { visitor: 2, number: 2 }];
  assert.deepEqual(passes(visits), [{ from: 5, until: 100_005 }]);
});

test('two visitors with one number are found', () => {
  assert.deepEqual(doubles([visit(1, 0, 1), visit(2, 0, 1), { visitor: 3 }, { visitor: 4 }]), []);
  const [found] = doubles([visit(7, 0, 1, { visitor: 1 }), visit(7, 5, 6, { visitor: 2 })]);
  assert.deepEqual(found, { number: 7, visitors: [1, 2] });
});

test('who is told to wait after a later number came in was overtaken', () => {
  const later = visit(9, 1_000, 1_010);
  assert.deepEqual(overtaken([later, { visitor: 5, number: 5, queueing: 3_000 }]), [], 'the edge may not know yet');
  assert.deepEqual(overtaken([later, { visitor: 5, number: 5, queueing: 9_000 }]), [{ number: 5, by: 9, where: 'in line' }]);
  assert.deepEqual(overtaken([later, { visitor: 12, number: 12, queueing: 9_000 }]), [], 'a number behind');
});

test('who was called and comes late is not overtaken, who stands at the door is', () => {
  const late = visit(5, 20_000, 20_010, { queueing: 500 });
  assert.deepEqual(overtaken([visit(9, 1_000, 1_010), late]), []);
  const atDoor = visit(5, 20_000, 20_010, { queueing: 500, door: 4_000, sentAway: 18_000 });
  assert.deepEqual(overtaken([visit(9, 3_990, 4_010), atDoor]), [], 'it may have been in before');
  assert.deepEqual(overtaken([visit(9, 4_001, 4_010), atDoor]), [{ number: 5, by: 9, where: 'at the door' }]);
  assert.deepEqual(overtaken([visit(9, 19_000, 20_005), atDoor]), [], 'it may have been in after');
  assert.deepEqual(overtaken([visit(9, 18_001, 18_010), atDoor]), [], 'a slot was kept');
});

test('a slot that was kept for the next at the door is taken by an earlier number that comes late, in its right', () => {
  const atDoor = visit(5, 20_000, 20_010, { door: 4_000, sentAway: 18_000 });
  const later = visit(9, 6_000, 6_010);
  const fault = [{ number: 5, by: 9, where: 'at the door' }];
  assert.deepEqual(overtaken([later, atDoor, visit(3, 7_000, 7_010)]), []);
  assert.deepEqual(overtaken([later, atDoor, visit(3, 4_500, 5_000)]), fault, 'it was in before the later one');
  assert.deepEqual(overtaken([later, atDoor, visit(3, 18_500, 18_510)]), fault, 'the last question was in vain before');
  assert.deepEqual(overtaken([later, atDoor, visit(7, 7_000, 7_010)]), fault, 'a number behind');
  assert.deepEqual(overtaken([later, atDoor, visit(3, 7_000, 7_010, { door: 4_500 })]), fault, 'a slot was kept for each');
  assert.deepEqual(overtaken([later, atDoor, visit(3, 7_000, 7_010, { door: 6_500 })]), [], 'it came to the door late');
});

test('inversions are admissions after a later number', () => {
  assert.equal(inversions([]), 0);
  assert.equal(inversions([visit(1, 0, 1), visit(3, 2, 3), visit(2, 4, 5), visit(4, 6, 7)]), 250);
});
