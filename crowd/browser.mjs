// A browser as far as a waiting room can tell: a cookie jar, and requests over connections that all
// share.

import { CookieJar } from 'tough-cookie';
import { Pool } from 'undici';

/** As long as the waiting page's script waits for an answer. */
const PATIENCE_MS = 20_000;

/** The header fields that tell the kinds of requests apart; docs/methods.md. */
const FIELDS = {
  page: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' },
  poll: { accept: 'application/json', 'anteroom-poll': '1', 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' },
  leave: { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'same-origin' },
  probe: { accept: 'text/html', 'sec-purpose': 'prefetch', 'sec-fetch-mode': 'no-cors' },
};

/** Connections that are kept alive, to the place that answers for a URL. */
export class Connections {
  #pool;
  #free;
  #waiting = [];
  #closed = false;

  /** @param {string} target A URL. @param {number} count As many requests are under way at a time. */
  constructor(target, count) {
    this.#free = count;
    this.#pool = new Pool(new URL(target).origin, {
      connections: count,
      pipelining: 1,
      keepAliveTimeout: 30_000,
      headersTimeout: PATIENCE_MS,
      bodyTimeout: PATIENCE_MS,
    });
  }

  /**
   * Sends a request once a connection is free; `read` gets the response and reads it to its end.
   * Answers `{sent, received, result}` or, where that failed, `{sent, received, lost}`. `sent` is when
   * it left, not when it was asked for.
   */
  async send(request, read) {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise((resolve) => this.#waiting.push(resolve));
    const sent = performance.now();
    try {
      if (this.#closed) throw new Error('closed');
      const result = await read(await this.#pool.request(request));
      return { sent, received: performance.now(), result };
    } catch (error) {
      return { sent, received: performance.now(), lost: error.code ?? error.message };
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }

  /** Gives up what is under way, and whatever waits to be. */
  close() {
    this.#closed = true;
    return this.#pool.destroy();
  }
}

/** The claims of a token, unverified; undefined if it is none. */
export function claims(token) {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
  } catch {
    return undefined;
  }
}

/**
 * One visitor's browser.
 *
 * `visitor` goes along as `Crowd-Visitor`, so that the test's origin can count by itself who comes. It
 * may be changed: somebody whose session is over comes as somebody new.
 */
export class Browser {
  #connections;
  #host;
  #jar = new CookieJar(undefined, { rejectPublicSuffixes: false, allowSpecialUseDomain: true });
  #cookieName;

  constructor({ connections, host, visitor, cookieName = '__cfwaitingroom' }) {
    this.#connections = connections;
    this.#host = host;
    this.visitor = visitor;
    this.#cookieName = cookieName;
  }

  /**
   * Sends a request of a kind for a URL. Never fails: what becomes of it is
   * `{asked, sent, received, lost}` or `{asked, sent, received, status, state, retryAfter, body, token, pass}`. `state` is
   * what anteroom says the answer is, undefined if the site answered; `token` has the claims of the token
   * that came along, and `pass` its text; the times are `performance.now()`:
   * when a connection was asked for, when the request left and when all of its answer had come.
   */
  async ask(kind, url, { method = 'GET' } = {}) {
    const { pathname, search } = new URL(url);
    const headers = { ...FIELDS[kind], host: this.#host, 'crowd-visitor': String(this.visitor) };
    const cookie = this.#jar.getCookieStringSync(url);
    if (cookie) headers.cookie = cookie;
    const asked = performance.now();
    const { result, ...answer } = await this.#connections.send({ path: pathname + search, method, headers }, async (response) => {
      // Pages are read to their end, and kept only where something is in them that the visitor reads.
      const body = kind === 'poll' ? await response.body.text() : await response.body.dump({ limit: 8 << 20 });
      return {
        status: response.statusCode,
        state: response.headers['anteroom-status'],
        retryAfter: Number(response.headers['retry-after']) || 0,
        body,
        ...this.#keep(response.headers['set-cookie'], url),
      };
    });
    return { asked, ...answer, ...result };
  }

  /** Sends a copy of a pass, as a prefetch: it takes no place and renews nothing. */
  async probe(url, token) {
    const { pathname, search } = new URL(url);
    const headers = { ...FIELDS.probe, host: this.#host, cookie: `${this.#cookieName}=${token}` };
    const { result, ...answer } = await this.#connections.send({ path: pathname + search, method: 'GET', headers }, async (response) => {
      await response.body.dump();
      return { status: response.statusCode, state: response.headers['anteroom-status'] };
    });
    return { ...answer, ...result };
  }

  /** Keeps an answer's cookies, and reads the room's among them. */
  #keep(lines = [], url) {
    let came;
    for (const line of Array.isArray(lines) ? lines : [lines]) {
      this.#jar.setCookieSync(line, url, { ignoreError: true });
      const end = line.indexOf('=');
      if (!line.slice(0, end).startsWith(this.#cookieName)) continue;
      const pass = line.slice(end + 1).split(';', 1)[0];
      came = { pass, token: claims(pass) };
    }
    return came;
  }
}
