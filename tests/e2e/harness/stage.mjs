// What every test file needs: an origin and the runtime before it, ended with the file.

import { after } from 'node:test';

import { Origin } from './origin.mjs';
import { Workerd } from './workerd.mjs';

/** Starts both; `options` are the runtime's. */
export async function stage(options) {
  const origin = await Origin.start();
  const server = await Workerd.start(origin, options);
  after(async () => {
    await server.stop();
    origin.stop();
  });
  return { origin, server };
}
