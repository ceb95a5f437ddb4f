// The site behind the room: records what it gets, answers as the test says.

import { once } from 'node:events';
import { createServer } from 'node:http';

import { accept, decode, encode } from './websocket.mjs';

export class Origin {
  /** Every request that came, in order: `{method, url, host, rawHeaders, header(name), body}`. */
  requests = [];

  /** What becomes of calls to rooms behind a switch: `up`, `throws`, `hangs`. */
  rooms = 'up';

  /** The same of relays. */
  relays = 'up';

  /** The same of the control object. */
  control = 'up';

  /** How often rooms and relays behind a switch were called. */
  calls = { rooms: 0, relays: 0, control: 0 };

  #answers = new Map();
  #held = new Set();
  #hanging = [];

  static async start() {
    const origin = new Origin();
    origin.server = createServer({ maxHeaderSize: 1 << 20 }, (request, response) =>
      origin.#answer(request, response),
    );
    origin.server.keepAliveTimeout = 60_000;
    origin.server.on('upgrade', (request, socket) => origin.#upgrade(request, socket));
    origin.server.listen(0, '127.0.0.1');
    await once(origin.server, 'listening');
    origin.port = origin.server.address().port;
    return origin;
  }

  /**
   * Says what `path` (up to the query) answers. `answer` is `{status, headers, body}` with `headers`
   * as a flat list, or a function of `(request, response)`.
   */
  on(path, answer) {
    this.#answers.set(path, answer);
  }

  /** Holds the answers of `path` from now on. Returns what lets go of them. */
  hold(path, answer = {}) {
    let release;
    const released = new Promise((resolve) => (release = resolve));
    this.on(path, async (request, response) => {
      this.#held.add(path);
      await released;
      this.#held.delete(path);
      reply(response, answer);
    });
    return release;
  }

  /** Whether a request for `path` has come and is held. */
  holds(path) {
    return this.#held.has(path);
  }

  /** The requests for `path`, with or without query. */
  seen(path, host) {
    return this.requests.filter(
      (request) =>
        (request.url === path || request.url.split('?')[0] === path) &&
        (host === undefined || request.host === host),
    );
  }

  /** Restores calls to objects behind a switch; those that hang go on. */
  restoreRooms() {
    this.rooms = 'up';
    this.relays = 'up';
    this.control = 'up';
    for (const response of this.#hanging.splice(0)) response.end('up');
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  async #answer(request, response) {
    if (request.headers.host === 'switch.invalid') {
      const kind = request.url.slice(1);
      this.calls[kind] += 1;
      if (this[kind] === 'hangs') this.#hanging.push(response);
      else response.end(this[kind]);
      return;
    }
    const record = note(request);
    this.requests.push(record);
    const answer = this.#answers.get(request.url.split('?')[0]) ?? {};
    if (typeof answer === 'function') {
      await answer(request, response);
      return;
    }
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    record.body = Buffer.concat(chunks);
    reply(response, answer);
  }

  /** Speaks WebSocket and says everything back. */
  #upgrade(request, socket) {
    this.requests.push(note(request));
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        `Sec-WebSocket-Accept: ${accept(request.headers['sec-websocket-key'])}\r\n\r\n`,
    );
    socket.on('error', () => {});
    decode(socket, (text) => socket.write(encode(`echo: ${text}`, false)));
  }
}

function note(request) {
  return {
    method: request.method,
    url: request.url,
    host: request.headers.host,
    rawHeaders: request.rawHeaders,
    header: (name) => request.headers[name.toLowerCase()],
    body: undefined,
  };
}

function reply(response, { status = 200, headers = ['Content-Type', 'text/plain'], body = 'the site' }) {
  response.writeHead(status, headers);
  response.end(body);
}
