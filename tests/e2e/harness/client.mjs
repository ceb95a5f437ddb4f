// Who asks: single requests with every byte under control, and visitors with a browser's cookies.

import { Agent, request as send } from 'node:http';

import { CookieJar } from 'tough-cookie';

import { decode, encode } from './websocket.mjs';

const agent = new Agent({ keepAlive: true, maxSockets: 512 });

/** What a browser sends when a visitor opens a page. */
export const NAVIGATE = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'Sec-Fetch-Mode': 'navigate' };

/** What a program sends that wants JSON. */
export const PROGRAM = { Accept: 'application/json' };

/**
 * Sends a request. `headers` is an object, or a flat list where lines repeat; `path` goes out byte for
 * byte (latin1). Answers `{status, headers, rawHeaders, setCookies, body, text, json()}`.
 */
export function ask(port, { host, path = '/', method = 'GET', headers = {}, body }) {
  const lines = Array.isArray(headers) ? headers : Object.entries(headers).flat();
  const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))];
  return new Promise((resolve, reject) => {
    const request = send(
      { host: '127.0.0.1', port, path, method, agent, setHost: false, maxHeaderSize: 1 << 18, headers: ['Host', host, ...length, ...lines] },
      async (response) => {
        try {
          const chunks = [];
          for await (const chunk of response) chunks.push(chunk);
          resolve(answer(response, Buffer.concat(chunks)));
        } catch (error) {
          reject(error);
        }
      },
    );
    request.on('error', reject);
    request.on('upgrade', (response, socket) => resolve({ ...answer(response, Buffer.alloc(0)), socket }));
    request.end(body);
  });
}

function answer(response, body) {
  return {
    status: response.statusCode,
    headers: response.headers,
    rawHeaders: response.rawHeaders,
    setCookies: response.headers['set-cookie'] ?? [],
    /** What anteroom says it is; undefined when the origin answered. */
    state: response.headers['anteroom-status'],
    body,
    text: body.toString(),
    json: () => JSON.parse(body.toString()),
  };
}

/** The fields of a `Set-Cookie`, with the names in lower case; `value` is the cookie's. */
export function parsed(setCookie) {
  const [pair, ...attributes] = setCookie.split('; ');
  const fields = attributes.map((attribute) => {
    const [name, value = true] = attribute.split('=');
    return [name.toLowerCase(), value];
  });
  const equals = pair.indexOf('=');
  return { name: pair.slice(0, equals), value: pair.slice(equals + 1), ...Object.fromEntries(fields) };
}

/** The claims of a token. */
export function claims(token) {
  return JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
}

/** The cookies of an answer that are anteroom's. */
export function ours(response) {
  return response.setCookies.map(parsed).filter((cookie) => cookie.name.startsWith('__cfwaitingroom'));
}

/** Somebody with a browser: keeps cookies as browsers do. */
export class Visitor {
  #server;
  #headers;
  #jar = new CookieJar(undefined, { rejectPublicSuffixes: false, allowSpecialUseDomain: true });

  constructor(server, headers = {}) {
    this.#server = server;
    this.#headers = headers;
  }

  /** Asks for a URL as a browser that opens a page, unless `headers` say otherwise. */
  async open(url, { method = 'GET', headers = NAVIGATE, body, path } = {}) {
    const { protocol, host, pathname, search } = new URL(url);
    const cookie = this.#jar.getCookieStringSync(url);
    const response = await ask(this.#server.port, {
      host,
      path: path ?? pathname + search,
      method,
      headers: {
        ...(protocol === 'https:' ? { 'X-Forwarded-Proto': 'https' } : {}),
        ...this.#headers,
        ...headers,
        ...(cookie ? { Cookie: cookie } : {}),
      },
      body,
    });
    for (const line of response.setCookies) {
      this.#jar.setCookieSync(line, url, { ignoreError: true });
    }
    return response;
  }

  /** The waiting page's poll. */
  poll(url) {
    return this.open(url, { headers: { 'Anteroom-Poll': '1', Accept: 'application/json', 'Sec-Fetch-Mode': 'cors' } });
  }

  /** The page's button for leaving. */
  leave(url) {
    return this.open(new URL('/.anteroom/leave', url).href, { method: 'POST', headers: { ...NAVIGATE, 'Sec-Fetch-Site': 'same-origin' } });
  }

  /** Opens a page behind a full room, and again: with a number then. */
  async queue(url) {
    await this.open(url);
    return this.open(url);
  }

  /** The token that a request for the URL would carry; undefined if none. */
  token(url) {
    const all = this.#jar.getCookiesSync(url);
    return all.find((cookie) => cookie.key.startsWith('__cfwaitingroom'))?.value;
  }

  /** The claims of that token. */
  claims(url) {
    const token = this.token(url);
    return token && claims(token);
  }

  /** The `Cookie` header that a request for the URL would carry. */
  cookie(url) {
    return this.#jar.getCookieStringSync(url);
  }

  /** The same cookies in another place, which go their own way from then on. */
  copy() {
    const copy = new Visitor(this.#server, this.#headers);
    copy.#jar = this.#jar.cloneSync();
    return copy;
  }
}

/** Opens a WebSocket. Answers the handshake's answer, with `say(text)`: the next text that comes. */
export async function connect(port, host, path, headers = {}) {
  const response = await ask(port, {
    host,
    path,
    headers: {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    },
  });
  if (!response.socket) return response;
  const waiting = [];
  decode(response.socket, (text) => waiting.shift()?.(text));
  const say = (text) =>
    new Promise((resolve) => {
      waiting.push(resolve);
      response.socket.write(encode(text, true));
    });
  return { ...response, say };
}
