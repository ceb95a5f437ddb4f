// A minute that has ended is kept, whether or not anybody comes, and outlasts the object.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Visitor } from '../e2e/harness/client.mjs';
import { ANTEROOM_API, Operator } from '../e2e/harness/operator.mjs';
import { stage } from '../e2e/harness/stage.mjs';
import { until } from '../e2e/harness/until.mjs';

const { server } = await stage({ vars: { ANTEROOM_API } });
const operator = new Operator(server);

/** The alarm rings a second after the minute. */
const AT_MOST = { within: 75_000, every: 1_000 };

test('the minute in which somebody came is kept, and outlasts a kill', async () => {
  const url = 'http://one-1.test/';
  await until('enough of the minute is left', () => Date.now() % 60_000 < 45_000, AT_MOST);
  const begin = Date.now();
  const visitor = new Visitor(server);
  await visitor.open(url);
  await new Visitor(server).queue(url);
  const room = visitor.claims(url).aud.split('.')[0];
  const points = async (step) => {
    const query = `since=${new Date(begin).toISOString()}&step=${step}`;
    return (await operator.call('GET', `/waiting_rooms/${room}/series?${query}`)).points;
  };
  // Until it is asked for its figures, nothing but the alarm tells the room that the minute is over.
  const next = (Math.floor(begin / 60_000) + 1) * 60_000;
  await until('the minute is over and the alarm has rung', () => Date.now() > next + 5_000, AT_MOST);
  await server.kill9();
  await server.restart();
  const [minute] = await points(60);
  assert.equal(minute.start, new Date(next - 60_000).toISOString().replace('.000', ''));
  assert.equal(minute.admitted, 1);
  assert.equal(minute.joined, 1);
  assert.deepEqual([minute.active_users.max, minute.queued_users.max], [1, 1]);
  const [quarter] = await points(900);
  assert.equal(quarter.admitted, 1);
});
