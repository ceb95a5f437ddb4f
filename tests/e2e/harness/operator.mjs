// Who operates the rooms: calls the API with a token.

import { createHash } from 'node:crypto';

import { ask } from './client.mjs';

export const TOKEN = 'operator-0123456789abcdef0123456789abcdef';
export const ZONE = '0000000000000000000000000000000a';

/** The secret that opens the API at api.test. */
export const ANTEROOM_API = JSON.stringify({
  host: 'api.test',
  zone_id: ZONE,
  account_id: ZONE,
  zone_names: ['test', 'example.com'],
  tokens: [{ name: 'operator', scope: 'write', sha256: createHash('sha256').update(TOKEN).digest('hex') }],
});

export class Operator {
  #server;

  constructor(server) {
    this.#server = server;
  }

  /** A call below the zone; answers as `ask` does. */
  ask(method, path, body, { token = TOKEN, port = this.#server.port } = {}) {
    return ask(port, {
      host: 'api.test',
      path: `/client/v4/zones/${ZONE}${path}`,
      method,
      headers: { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) },
      body: body && JSON.stringify(body),
    });
  }

  /** A call that has to succeed: its result. */
  async call(method, path, body) {
    const response = await this.ask(method, path, body);
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
    return response.json().result;
  }

  /** All rooms, page by page. */
  async rooms() {
    const rooms = [];
    for (let page = 1; ; page++) {
      const found = await this.call('GET', `/waiting_rooms?per_page=50&page=${page}`);
      rooms.push(...found);
      if (found.length < 50) return rooms;
    }
  }

  /** The room that covers a host. */
  async room(host) {
    const room = (await this.rooms()).find((candidate) => candidate.host === host);
    if (!room) throw new Error(`no room covers ${host}`);
    return room;
  }

  /** Changes fields of the room that covers a host. */
  async change(host, fields) {
    const { id } = await this.room(host);
    return this.call('PATCH', `/waiting_rooms/${id}`, fields);
  }

  /** Which configuration is in force: `{version, source}`. */
  async standing() {
    const response = await this.ask('GET', '/waiting_rooms?per_page=5');
    const said = response.headers['anteroom-configuration'] ?? '';
    return Object.fromEntries(said.split(', ').map((part) => part.split('=')));
  }
}
