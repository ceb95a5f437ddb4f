// Runs in the runtime: stands before the objects and fails as the test's origin
// orders.

import { DurableObject } from 'cloudflare:workers';

class Switch extends DurableObject {
  async fetch(request) {
    const body = await request.text();
    // Held by the origin for as long as the object shall hang.
    const answer = await fetch(`http://switch.invalid/${this.kind}`);
    if ((await answer.text()) === 'throws') throw new Error('cut off by the test');
    const object = this.namespace.getByName(this.ctx.id.name);
    return object.fetch('https://object/', { method: 'POST', body });
  }
}

export class Room extends Switch {
  kind = 'rooms';
  namespace = this.env.ROOM;
}

export class Relay extends Switch {
  kind = 'relays';
  namespace = this.env.RELAY;
}

export class Control extends Switch {
  kind = 'control';
  namespace = this.env.CONTROL;
}

export default {};
