// What the tests of the cache share: a visitor of a cached host, and a look into the data centre's cache.

import { ask } from './client.mjs';
import { until } from './until.mjs';

export class CachedHost {
  constructor({ origin, server, copies }, host = 'cached.test') {
    Object.assign(this, { origin, server, copies, host });
  }

  /** Asks for a path; `status` of the answer is what `Cache-Status` says of the last cache. */
  async get(path, headers = {}, more = {}) {
    const response = await ask(this.server.port, { host: this.host, path, headers, ...more });
    return { ...response, cache: (response.headers['cache-status'] ?? '').split(', ').at(-1) };
  }

  /** What the origin says of a path, and a first request for it: over when the answer is stored. */
  async fill(path, answer, headers = {}) {
    this.origin.on(path.split('?')[0], answer);
    const before = this.puts;
    const response = await this.get(path, headers);
    await until(`${path} is stored`, () => this.puts > before);
    return response;
  }

  /** How many answers were stored up to now. */
  get puts() {
    return this.copies.stored;
  }

  /** How often the origin was asked for a path. */
  asked(path) {
    return this.origin.seen(path, this.host).length;
  }

  /** Everything that the cache holds, as one text. */
  holds() {
    const entries = [...this.copies.cache.values()].map(({ headers, body }) => {
      const kept = headers.find(([name]) => name.toLowerCase() === 'anteroom-kept')?.[1] ?? '';
      return Buffer.from(kept, 'base64').toString() + body.toString('latin1');
    });
    return entries.join('\n');
  }
}
