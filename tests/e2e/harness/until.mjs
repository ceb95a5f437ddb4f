// Waiting for what time brings.

import { setTimeout as pause } from 'node:timers/promises';

/**
 * Tries `condition` until it gives something true and returns that. The deadline is for a condition
 * that never comes true; how soon one does decides no test.
 */
export async function until(what, condition, { within = 20_000, every = 100 } = {}) {
  const deadline = performance.now() + within;
  for (;;) {
    const result = await condition();
    if (result) return result;
    if (performance.now() > deadline) throw new Error(`not within ${within} ms: ${what}`);
    await pause(every);
  }
}
