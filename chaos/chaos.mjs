// A crowd in a storm, and what must hold all the same.

import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

import { Browser, Connections } from '../crowd/browser.mjs';
import { crowd } from '../crowd/crowd.mjs';
import { admissions } from '../crowd/verdicts.mjs';
import { probe } from './probe.mjs';
import { storm } from './storm.mjs';

/** A slot is free so long after its pass has ended. */
const EXPIRY_GRACE_S = 5;

/** A place is kept for who has closed the page, or was called, for no longer than this. */
const GIVEN_UP_S = 100;

/**
 * Runs a crowd against a room while everything around it fails.
 *
 * @param {object} run
 * @param {import('../tests/e2e/harness/workerd.mjs').Workerd} run.server
 * @param {import('./proxy.mjs').Proxy} run.proxy Between the crowd and the server.
 * @param {import('../crowd/site.mjs').Site} run.site
 * @param {{url: string, active: number, minute: number, session: number}} run.room The room's limits
 *   and the seconds of a session.
 * @param {object} run.options As of a crowd, with `calm` (see storm.mjs), `storm`: for so many seconds
 *   things fail, then everybody must come through; and `probeSeconds` between two looks at the passes.
 * @param {(what: string) => void} run.tell Hears what goes wrong.
 * @param {(record: import('../crowd/record.mjs').Record) => void} [run.onSecond]
 * @param {AbortSignal} [run.signal] Ends the run early.
 */
export async function chaos({ server, proxy, site, room, options, tell, onSecond, signal }) {
  proxy.target = server.port;
  const probes = [];
  const over = new AbortController();
  let probing;
  const calm = AbortSignal.any([over.signal, AbortSignal.timeout(options.storm * 1000)]);
  const weather = storm({ ...options, server, proxy, site, signal: calm, tell });
  const { record, ended } = await crowd({
    url: room.url,
    connectTo: `http://127.0.0.1:${proxy.port}`,
    options,
    rough: { sessionMs: room.session * 1000 },
    signal,
    onSecond(now) {
      onSecond?.(now);
      // Now and then, and only while there is somebody to ask.
      if (probing || proxy.target === undefined || Math.floor(now.age / 1000) % options.probeSeconds !== 0) return;
      const port = proxy.target;
      probing = probe({ port, url: room.url, visits: now.visits, cookieName: options.cookie }).then((found) => {
        // What a process that was killed meanwhile has said is no answer.
        if (proxy.target === port) probes.push(found);
        probing = undefined;
      });
    },
  }).finally(() => over.abort());
  await weather;
  await probing;
  const last = await probe({ port: server.port, url: room.url, visits: record.visits, cookieName: options.cookie });
  probes.push(last);
  const free = ended === 'all are done' ? await slotsCameBack({ server, room, record }) : undefined;
  return { record, ended, free, lost: proxy.lost, probes, faults: broken({ record, probes, free, room, ended }) };
}

/**
 * How many places there are once everybody has gone and every session is over: more newcomers than
 * there are places come, and the number of those who are let in is told once it is the room's, or
 * when those must have been given up that were called and have closed the page.
 */
async function slotsCameBack({ server, room, record }) {
  const lastPass = Math.max(0, ...record.visits.map((visit) => visit.expires ?? 0));
  // A pass whose answer was lost is known to nobody, but it is no younger than the last request.
  const free = Math.max(lastPass, performance.now() + room.session * 1000) + (EXPIRY_GRACE_S + 1) * 1000;
  await pause(free - performance.now());
  const connections = new Connections(`http://127.0.0.1:${server.port}`, 16);
  const until = performance.now() + GIVEN_UP_S * 1000;
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  let inside = 0;
  const comesIn = async (browser) => {
    for (let kind = 'page'; ; kind = 'poll') {
      const { token } = await browser.ask(kind, room.url);
      if (token?.state === 'admitted' || token?.state === 'provisional') break;
      if (inside >= room.active || performance.now() > until) return;
      await pause(1_000);
    }
    inside += 1;
    void stays(browser);
  };
  // Else places were free again before all have come.
  const stays = async (browser) => {
    while (!over.signal.aborted) {
      await pause(room.session * 300, undefined, { signal: over.signal }).catch(() => {});
      await browser.ask('page', room.url);
    }
  };
  try {
    const newcomers = Array.from({ length: room.active + 5 }, (_, n) => new Browser({ connections, host: new URL(room.url).host, visitor: `last ${n}` }));
    await Promise.all(newcomers.map(comesIn));
    return inside;
  } finally {
    over.abort();
    await connections.close();
  }
}

/** What did not hold, in words; empty if everything did. */
export function broken({ record, probes, free, room, ended }) {
  const seen = admissions(record);
  const most = Math.max(...probes.map(({ honoured }) => honoured));
  const faults = [...record.told];
  const told = record.told.length;
  const all = Object.values(record.faults).reduce((sum, count) => sum + count, 0);
  if (all > told) faults.push(`and ${all - told} more`);
  if (seen.active > room.active) faults.push(`${seen.active} valid passes at once, the limit is ${room.active}`);
  if (most > room.active) faults.push(`${most} passes were honoured at once, the limit is ${room.active}`);
  if (seen.minute > room.minute) faults.push(`${seen.minute} admissions within 60 s, the limit is ${room.minute}`);
  for (const { number, visitors } of seen.doubles) faults.push(`number ${number} was given to visitors ${visitors.join(' and ')}`);
  for (const { number, by, where } of seen.overtaken) faults.push(`number ${number} was overtaken ${where} by ${by}`);
  for (const found of probes) faults.push(...found.faults);
  if (ended !== 'all are done') faults.push(`not everybody came through: ${ended}`);
  if (free !== undefined && free !== room.active) {
    faults.push(`${free} newcomers were let in when everybody had gone, into ${room.active} places`);
  }
  return faults;
}
