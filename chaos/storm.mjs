// What goes wrong, and when: drawn from a seed, so that a storm can be had again.

import { setTimeout as pause } from 'node:timers/promises';

import { between, seeded, whole } from '../crowd/random.mjs';

const MOODS = ['slow', 'fails', 'cuts'];

/**
 * Lets things fail until `signal` is aborted: the runtime is killed without warning and started over
 * the same storage, the site is slow, fails or hangs up, requests and answers are lost.
 *
 * @param {object} storm
 * @param {number} storm.seed
 * @param {number} storm.calm The mean seconds between two kills.
 * @param {import('../tests/e2e/harness/workerd.mjs').Workerd} storm.server
 * @param {import('./proxy.mjs').Proxy} storm.proxy
 * @param {import('../crowd/site.mjs').Site} storm.site
 * @param {AbortSignal} storm.signal
 * @param {(what: string) => void} storm.tell
 * @returns {Promise<void>} When everything is up again.
 */
export async function storm({ seed, calm, server, proxy, site, signal, tell }) {
  const sleep = async (seconds) => {
    await pause(seconds * 1000, undefined, { signal }).catch(() => {});
    return !signal.aborted;
  };
  await Promise.all([
    kills(seeded(seed), calm, server, proxy, sleep, tell),
    moods(seeded(seed + 1), calm, site, sleep, tell),
    losses(seeded(seed + 2), calm, proxy, sleep, tell),
  ]);
}

async function kills(random, calm, server, proxy, sleep, tell) {
  for (let n = 1; await sleep(between(random, 0.5, 1.5) * calm); n += 1) {
    const down = random() < 0.5 ? 0 : between(random, 0.5, 3);
    tell(`kill ${n}: process ${server.process.pid}, down for ${down.toFixed(1)} s and the start`);
    await server.kill9();
    proxy.target = undefined;
    await sleep(down);
    await server.restart();
    proxy.target = server.port;
  }
}

async function moods(random, calm, site, sleep, tell) {
  while (await sleep(between(random, 0.2, 1) * calm)) {
    const mood = MOODS[whole(random, 0, MOODS.length - 1)];
    tell(`the site ${mood}`);
    site.be(mood);
    await sleep(between(random, 0.2, 0.5) * calm);
    site.be('up');
  }
  site.be('up');
}

async function losses(random, calm, proxy, sleep, tell) {
  while (await sleep(between(random, 0.1, 0.6) * calm)) {
    const share = between(random, 0.02, 0.2);
    tell(`${(100 * share).toFixed(0)} % of the answers are lost`);
    proxy.losses = { requests: share / 4, answers: share };
    await sleep(between(random, 0.2, 0.8) * calm);
    proxy.losses = { requests: 0, answers: 0 };
  }
  proxy.losses = { requests: 0, answers: 0 };
}
