// Runs in the runtime: stands before the rooms' objects and fails as the test's origin orders.

import { DurableObject } from 'cloudflare:workers';

export class Room extends DurableObject {
  async fetch(request) {
    const body = await request.text();
    // Held by the origin for as long as the room shall hang.
    const answer = await fetch('http://switch.invalid/');
    if ((await answer.text()) === 'throws') throw new Error('the room was cut off by the test');
    const room = this.env.ROOM.getByName(this.ctx.id.name);
    return room.fetch('https://room/', { method: 'POST', body });
  }
}

export default {};
