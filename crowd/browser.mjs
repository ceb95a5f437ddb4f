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

/** `count` connections, kept alive, to the place that answers for `target`. */
export function connections(target, count) {
  return new Pool(new URL(target).origin, {
    connections: count,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    headersTimeout: PATIENCE_MS,
    bodyTimeout: PATIENCE_MS,
  });
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
 * `visitor` goes along as `Crowd-Visitor`, so that the test's origin can count by itself who comes.
 */
export class Browser {
  #pool;
  #host;
  #jar = new CookieJar(undefined, { rejectPublicSuffixes: false, allowSpecialUseDomain: true });
  #visitor;
  #cookieName;

  /** The token that the browser holds: `{text, claims, sent}`, or undefined. */
  token;

  constructor({ pool, host, visitor, cookieName = '__cfwaitingroom' }) {
    this.#pool = pool;
    this.#host = host;
    this.#visitor = visitor;
    this.#cookieName = cookieName;
  }

  /**
   * Sends a request of a kind for a URL. Never fails: what becomes of it is
   * `{sent, received, lost}` or `{sent, received, status, state, retryAfter, body, token}`. `state` is
   * what anteroom says the answer is, undefined if the site answered; `token` the claims of the token
   * that came along; the times are `performance.now()`.
   */
  async ask(kind, url, { method = 'GET' } = {}) {
    const { pathname, search } = new URL(url);
    const headers = { ...FIELDS[kind], host: this.#host, 'crowd-visitor': String(this.#visitor) };
    const cookie = this.#jar.getCookieStringSync(url);
    if (cookie) headers.cookie = cookie;
    const sent = performance.now();
    let response, body;
    try {
      response = await this.#pool.request({ path: pathname + search, method, headers });
      // Pages are read to their end, and kept only where something is in them that the visitor reads.
      if (kind === 'poll') body = await response.body.text();
      else await response.body.dump({ limit: 8 << 20 });
    } catch (error) {
      return { sent, received: performance.now(), lost: error.code ?? error.message };
    }
    return {
      sent,
      received: performance.now(),
      status: response.statusCode,
      state: response.headers['anteroom-status'],
      retryAfter: Number(response.headers['retry-after']) || 0,
      body,
      token: this.#keep(response.headers['set-cookie'], url, sent),
    };
  }

  /** Sends a copy of a pass, as a prefetch: it takes no place and renews nothing. */
  async probe(url, token) {
    const { pathname, search } = new URL(url);
    const headers = { ...FIELDS.probe, host: this.#host, cookie: `${this.#cookieName}=${token}` };
    try {
      const response = await this.#pool.request({ path: pathname + search, method: 'GET', headers });
      await response.body.dump();
      return { status: response.statusCode, state: response.headers['anteroom-status'] };
    } catch (error) {
      return { lost: error.code ?? error.message };
    }
  }

  #keep(lines, url, sent) {
    if (!lines) return undefined;
    let came;
    for (const line of Array.isArray(lines) ? lines : [lines]) {
      this.#jar.setCookieSync(line, url, { ignoreError: true });
      const end = line.indexOf('=');
      if (!line.slice(0, end).startsWith(this.#cookieName)) continue;
      const text = line.slice(end + 1).split(';', 1)[0];
      came = text ? claims(text) : undefined;
      this.token = came && { text, claims: came, sent, name: line.slice(0, end) };
    }
    return came;
  }
}
