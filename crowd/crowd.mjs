// Lets a crowd loose: all visitors of a run, over a bounded number of connections.

import { setMaxListeners } from 'node:events';
import { setInterval as every } from 'node:timers';

import { Browser, Connections } from './browser.mjs';
import { seeded } from './random.mjs';
import { Record } from './record.mjs';
import { Visitor, draw } from './visitor.mjs';

/** A target that fails so many of so many requests in a row is left alone. */
const WATCHED = 200;
const TOO_MANY_FAILED = 100;

/**
 * Runs a crowd to its end.
 *
 * @param {object} run
 * @param {string} run.url The page they want; its host is what cookies go by.
 * @param {string} [run.connectTo] Where connections go, if not to the URL's host.
 * @param {object} run.options See options.mjs.
 * @param {{sessionMs: number}} [run.rough] Failures are planned: they are no faults, and nothing is
 *   given up; see visitor.mjs.
 * @param {(record: Record, visitors: Visitor[]) => void} [run.onSecond] Called about once a second.
 * @param {AbortSignal} [run.signal] Ends the run early.
 * @returns {Promise<{record: Record, visitors: Visitor[], ended: string}>} `ended` says why:
 *   `all are done`, `the time is up`, `the target fails`, `interrupted`.
 */
export async function crowd({ url, connectTo = url, options, rough = false, onSecond, signal }) {
  const random = seeded(options.seed);
  const connections = new Connections(connectTo, options.connections);
  const record = new Record();
  const end = new AbortController();
  // One for each visitor who sleeps.
  setMaxListeners(0, end.signal);
  let ended = 'all are done';
  const stop = (why) => {
    if (end.signal.aborted) return;
    ended = why;
    end.abort();
    void connections.close();
  };
  signal?.addEventListener('abort', () => stop('interrupted'), { once: true });

  const habits = { ...options, spanSeconds: options.span, thinkSeconds: options.think, noShow: options['no-show'] };
  const visitors = Array.from({ length: options.visitors }, (_, id) => {
    const browser = new Browser({
      connections,
      host: new URL(url).host,
      visitor: String(id),
      cookieName: options.cookie,
    });
    return new Visitor({ id, url, browser, plan: draw(random, habits), record, signal: end.signal, rough });
  });

  let [seen, failed] = [0, 0];
  const clock = every(() => {
    record.sample();
    onSecond?.(record, visitors);
    if (record.age > options.minutes * 60_000) stop('the time is up');
    const requests = record.counted('requests');
    if (!rough && requests - seen >= WATCHED) {
      const now = record.counted('lost') + record.counted('failed');
      if ((now - failed) * WATCHED > (requests - seen) * TOO_MANY_FAILED) stop('the target fails');
      [seen, failed] = [requests, now];
    }
  }, 1_000);
  try {
    await Promise.all(visitors.map((visitor) => visitor.run()));
  } finally {
    clearInterval(clock);
    end.abort();
    await connections.close();
  }
  record.sample();
  return { record, visitors, ended };
}
