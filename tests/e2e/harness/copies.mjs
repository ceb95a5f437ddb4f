// What the runtime keeps copies in: the cache of the data centre and a KV namespace, as workerd speaks to
// them. Both outlive the runtime, and a test can look into them and break them.
//
// workerd has no cache of its own: it asks a service by HTTP. `GET` finds, `PUT` stores a whole response in
// the form of HTTP/1.1, `PURGE` removes. This one does what Cloudflare's does as far as it is documented for
// the Cache API: it keeps a response for its max-age, bytes as they are; it knows no Vary; it refuses a 206 and
// `Set-Cookie`; it cuts a single range out of a response whose length is known.

import { once } from 'node:events';
import { createServer } from 'node:http';

export class Copies {
  /** The cache, by namespace and URL: `{until, headers, body, text}`. */
  cache = new Map();

  /** The KV namespace. */
  kv = new Map();

  /** What becomes of calls: `up` or `throws`; of those to the cache also `hangs`. */
  state = { cache: 'up', kv: 'up' };

  /** How often each was called, by method. */
  calls = {};

  /** The bodies of the responses that the cache has stored, in order. */
  bodies = [];

  /** How many responses the cache has stored. */
  get stored() {
    return this.bodies.length;
  }

  static async start() {
    const copies = new Copies();
    copies.server = createServer({ maxHeaderSize: 1 << 18 }, async (request, response) => {
      try {
        const chunks = [];
        for await (const chunk of request) chunks.push(chunk);
        copies.#answer(request, Buffer.concat(chunks), response);
      } catch {
        // A body that breaks off is stored by no cache.
        response.destroy();
      }
    });
    copies.server.keepAliveTimeout = 60_000;
    copies.server.listen(0, '127.0.0.1');
    await once(copies.server, 'listening');
    copies.port = copies.server.address().port;
    return copies;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  #answer(request, body, response) {
    // A key of the cache is a URL of a host that does not exist.
    const isCache = request.headers.host.endsWith('.invalid');
    const kind = isCache ? 'cache' : 'kv';
    this.calls[`${kind} ${request.method}`] = (this.calls[`${kind} ${request.method}`] ?? 0) + 1;
    if (this.state[kind] === 'hangs') return;
    if (this.state[kind] !== 'up') return void response.writeHead(500).end();
    if (isCache) this.#cache(request, body, response);
    else this.#kv(request, body, response);
  }

  #cache({ method, headers, url }, payload, response) {
    const key = `${headers['cf-cache-namespace'] ?? ''} ${headers.host}${url}`;
    if (method === 'PUT') {
      const entry = parsed(payload);
      if (entry) {
        this.cache.set(key, entry);
        this.bodies.push(entry.text);
      }
      return void response.writeHead(entry ? 204 : 400).end();
    }
    if (method === 'PURGE') return void response.writeHead(this.cache.delete(key) ? 200 : 404).end();
    const found = this.cache.get(key);
    if (!found || found.until <= Date.now()) return void response.writeHead(504, { 'CF-Cache-Status': 'MISS' }).end();
    const fields = found.headers.flat().concat('CF-Cache-Status', 'HIT');
    const range = found.hasLength && /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? '');
    if (!range) return void response.writeHead(200, [...fields, 'Content-Length', String(found.body.length)]).end(found.body);
    const { length } = found.body;
    const [, first, last] = range;
    const from = first === '' ? Math.max(0, length - Number(last)) : Number(first);
    const to = first === '' || last === '' ? length - 1 : Math.min(Number(last), length - 1);
    if (from > to) return void response.writeHead(416, ['Content-Range', `bytes */${length}`, 'CF-Cache-Status', 'HIT']).end();
    const part = found.body.subarray(from, to + 1);
    response
      .writeHead(206, [...fields, 'Content-Range', `bytes ${from}-${to}/${length}`, 'Content-Length', String(part.length)])
      .end(part);
  }

  #kv({ method, url }, body, response) {
    const key = decodeURIComponent(url.split('?')[0].slice(1));
    if (method === 'PUT') {
      // What is no text is kept as bytes.
      const text = body.toString();
      this.kv.set(key, Buffer.from(text).equals(body) ? text : body);
      return void response.writeHead(200).end();
    }
    const found = this.kv.get(key);
    if (found === undefined) return void response.writeHead(404).end();
    response.writeHead(200).end(found);
  }
}

/** A response in the form of HTTP/1.1, as it is kept; undefined if no cache keeps it. */
function parsed(payload) {
  const end = payload.indexOf('\r\n\r\n');
  const [line, ...lines] = payload.subarray(0, end).toString('latin1').split('\r\n');
  const headers = lines.map((field) => {
    const colon = field.indexOf(':');
    return [field.slice(0, colon), field.slice(colon + 1).trim()];
  });
  const field = (name) => headers.find(([known]) => known.toLowerCase() === name)?.[1];
  if (line.split(' ')[1] === '206' || field('set-cookie') !== undefined) return undefined;
  // The head may say `Transfer-Encoding: chunked`. That is of the request; the body within is as it is.
  const body = payload.subarray(end + 4);
  const length = field('content-length');
  if (length !== undefined && Number(length) !== body.length) return undefined;
  const age = Number(/max-age=(\d+)/i.exec(field('cache-control') ?? '')?.[1] ?? 0);
  const ofTransfer = ['transfer-encoding', 'content-length', 'connection'];
  return {
    until: Date.now() + age * 1000,
    headers: headers.filter(([name]) => !ofTransfer.includes(name.toLowerCase())),
    hasLength: length !== undefined,
    body,
    get text() {
      return this.body.toString();
    },
  };
}
