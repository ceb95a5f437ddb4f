// The site behind the room of a run on this machine: a thread of its own, so that what it counts is
// counted apart from the visitors. It can be told to be slow and to fail.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';

import { between, seeded } from './random.mjs';
import { mostAtOnce } from './visits.mjs';

const PAGE = `<!DOCTYPE html><title>The shop</title><p>${'A page as long as a small one. '.repeat(60)}</p>`;

/** The site, seen from the main thread. */
export class Site {
  #thread;

  /** Starts it, on a free port. */
  static async start({ seed = 1 } = {}) {
    const site = new Site();
    site.#thread = new Worker(new URL(import.meta.url), { workerData: { seed } });
    [site.port] = await once(site.#thread, 'message');
    return site;
  }

  /** How it answers from now on: `up`, `slow`, `fails` (status 500), `cuts` (no answer). */
  be(mood) {
    this.#thread.postMessage(mood);
  }

  /**
   * What it has counted: `{requests, sessions, visitors}`: requests of every second since
   * `begin` (`Date.now()`), the most sessions at once, all visitors. A session begins with a
   * visitor's first request and ends with the last.
   */
  async counts(begin) {
    this.#thread.postMessage({ begin });
    const [counts] = await once(this.#thread, 'message');
    return counts;
  }

  async stop() {
    await this.#thread.terminate();
  }
}

function serve({ seed }) {
  const random = seeded(seed);
  const requests = new Map();
  const sessions = new Map();
  let mood = 'up';

  function note(visitor) {
    const now = Date.now();
    const second = Math.floor(now / 1000);
    requests.set(second, (requests.get(second) ?? 0) + 1);
    if (!visitor) return;
    const session = sessions.get(visitor);
    if (session) session.until = now;
    else sessions.set(visitor, { from: now, until: now });
  }

  const server = createServer((request, response) => {
    const visitor = request.headers['crowd-visitor'];
    note(visitor);
    request.resume();
    if (mood === 'cuts') {
      request.socket.destroy();
      return;
    }
    const answer = () => {
      response.writeHead(mood === 'fails' ? 500 : 200, { 'Content-Type': 'text/html', 'Cache-Control': 'no-store' });
      response.end(PAGE);
    };
    if (mood === 'slow') setTimeout(answer, between(random, 300, 2_500));
    else answer();
  });
  server.keepAliveTimeout = 120_000;
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));

  parentPort.on('message', (message) => {
    if (typeof message === 'string') {
      mood = message;
      return;
    }
    const first = Math.floor(message.begin / 1000);
    const bySecond = [];
    for (const [second, count] of requests) if (second >= first) bySecond[second - first] = count;
    const { most } = mostAtOnce([...sessions.values()]);
    parentPort.postMessage({ requests: bySecond, sessions: most, visitors: sessions.size });
  });
}

if (!isMainThread && workerData?.seed !== undefined) serve(workerData);
