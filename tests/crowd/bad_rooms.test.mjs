// Rooms that break a promise: a crowd must notice each. They are a few lines of Node that know the
// waiting room's answers and nothing of its care.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, describe, test } from 'node:test';

import { crowd } from '../../crowd/crowd.mjs';
import { verdicts } from '../../crowd/verdicts.mjs';

const SECONDS = 100;

function token(state, sub, seconds = SECONDS) {
  const iat = Math.floor(Date.now() / 1000);
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part({ sub: String(sub), iat, exp: iat + seconds, state })}.x`;
}

/** A room with `places` that counts right and lets in the first in line. `bad` changes what it does. */
function room({ places = 5, ...bad } = {}) {
  let next = 1;
  const inside = new Set();
  const line = new Set();
  const isNext = (sub) => Number(sub) === (bad.picks ?? Math.min)(...line);
  const number = () => (bad.number ?? ((n) => n))(next++);
  const enter = (sub) => {
    line.delete(Number(sub));
    inside.add(sub);
    return token('admitted', sub);
  };
  const queue = (sub) => {
    line.add(sub);
    return token('waiting', sub);
  };
  const server = createServer((request, response) => {
    request.resume();
    const cookie = /__cfwaitingroom=([^;]+)/.exec(request.headers.cookie ?? '')?.[1];
    const held = cookie && JSON.parse(Buffer.from(cookie.split('.')[1], 'base64url'));
    const say = (status, fields, body = '') => {
      response.writeHead(status, { 'Content-Type': 'text/plain', ...fields });
      response.end(body);
    };
    const set = (text) => ({ 'Set-Cookie': `__cfwaitingroom=${text}; Path=/` });
    const waits = (fields, admitted = false) =>
      say(200, { 'Anteroom-Status': admitted ? 'admitted' : 'queueing', 'Retry-After': '1', ...fields },
        JSON.stringify({ cfWaitingRoom: { admitted, refreshIntervalSeconds: 0.3 } }));
    const isFree = bad.isFree ?? (() => inside.size < places);
    if (request.url.endsWith('/leave')) {
      inside.delete(held?.sub);
      say(200, { 'Anteroom-Status': 'left' });
    } else if (held?.state === 'admitted' && !bad.refuses?.(request)) {
      if (request.headers['anteroom-poll']) waits({}, true);
      else say(200, {}, 'the site');
    } else if (bad.leaks?.(request)) {
      say(200, {}, 'the site');
    } else if (held?.state === 'waiting') {
      if (bad.forgets?.(request)) waits(set(queue(number())));
      else if (isNext(held.sub) && isFree(inside)) waits(set(enter(held.sub)), true);
      else waits({});
    } else if (!held && line.size === 0 && isFree(inside)) {
      say(200, set(enter(String(number()))), 'the site');
    } else if (held?.state === 'admitted') {
      waits({});
    } else {
      waits(set(queue(number())));
    }
  });
  return server;
}

/** What a crowd says of a room; one in which not everybody comes through is left after `minutes`. */
async function judged(server, minutes = 1) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { record } = await crowd({
    url: `http://127.0.0.1:${server.address().port}/`,
    options: { visitors: 25, span: 0.5, pages: 2, think: 0.1, 'no-show': 0, leave: 0, vanish: 0, minutes, connections: 20, seed: 3, cookie: '__cfwaitingroom' },
  });
  const [treated, , completed] = verdicts({ record, limits: { active: 5, minute: 1_000 } });
  return { treated: treated.holds, figures: treated.figures.join('\n'), completed: completed.holds };
}

// Side by side, since they do little but wait.
describe('a crowd', { concurrency: true }, () => {
  test('a good room is not blamed', async () => {
    const { treated, completed, figures } = await judged(room());
    assert.equal(treated, true, figures);
    assert.equal(completed, true);
  });

  for (const [what, bad, found, minutes] of [
    ['lets in more than it has places', { isFree: (inside) => inside.size < 12 }, /passes over the limit: \d/],
    ['gives numbers twice', { number: (n) => n >> 1 }, /a number given twice/, 0.1],
    ['refuses passes', { refuses: (request) => request.url.includes('page=') }, /a pass refused/],
    ['lets visitors through without a pass', { leaks: (request) => !request.headers['anteroom-poll'] }, /let in without a pass/],
    ['lets in the last in line first', { picks: Math.max, places: 2 }, /overtaken in line/],
    ['forgets places in line', { forgets: () => Math.random() < 0.3 }, /a place lost/, 0.1],
  ]) {
    test(`a room that ${what} is found out`, async () => {
      const { treated, figures } = await judged(room(bad), minutes);
      assert.equal(treated, false);
      assert.match(figures, found);
    });
  }

  test('a room that lets nobody in leaves people waiting', async () => {
    const { completed } = await judged(room({ isFree: () => false }), 0.1);
    assert.equal(completed, false);
  });
});
