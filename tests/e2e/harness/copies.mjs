// What the runtime keeps copies in: the cache of the data centre and a KV namespace, as workerd speaks to
// them. Both outlive the runtime, and a test can look into them and break them.

import { once } from 'node:events';
import { createServer } from 'node:http';

export class Copies {
  /** The cache, by URL: `{until, text, headers}`. */
  cache = new Map();

  /** The KV namespace. */
  kv = new Map();

  /** What becomes of calls: `up` or `throws`. */
  state = { cache: 'up', kv: 'up' };

  /** How often each was called, by method. */
  calls = {};

  static async start() {
    const copies = new Copies();
    copies.server = createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      copies.#answer(request, Buffer.concat(chunks).toString(), response);
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
    if (this.state[kind] !== 'up') return void response.writeHead(500).end();
    if (isCache) this.#cache(request, body, response);
    else this.#kv(request, body, response);
  }

  #cache({ method, headers, url }, body, response) {
    const key = `${headers['cf-cache-namespace'] ?? ''} ${headers.host}${url}`;
    if (method === 'PUT') {
      // The body is a response as HTTP/1.1 has it.
      const end = body.indexOf('\r\n\r\n');
      const age = Number(/max-age=(\d+)/i.exec(body.slice(0, end))?.[1] ?? 0);
      this.cache.set(key, { until: Date.now() + age * 1000, text: body.slice(end + 4) });
      return void response.writeHead(204).end();
    }
    const found = this.cache.get(key);
    if (!found || found.until <= Date.now()) return void response.writeHead(504, { 'CF-Cache-Status': 'MISS' }).end();
    response.writeHead(200, { 'CF-Cache-Status': 'HIT', 'Content-Type': 'text/plain' }).end(found.text);
  }

  #kv({ method, url }, body, response) {
    const key = decodeURIComponent(url.split('?')[0].slice(1));
    if (method === 'PUT') {
      this.kv.set(key, body);
      return void response.writeHead(200).end();
    }
    const found = this.kv.get(key);
    if (found === undefined) return void response.writeHead(404).end();
    response.writeHead(200).end(found);
  }
}
