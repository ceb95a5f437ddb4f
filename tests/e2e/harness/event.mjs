// A Worker with an event that happens now. Times are compiled in, and nothing in the Worker can move its
// clock. But the declaration lies in the WASM as plain JSON, and all times of this era have thirteen
// digits: so the times of a copy are set by writing other digits over them.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');

/** The event's times in rooms.toml. */
const DECLARED = {
  prequeue: Date.parse('2280-01-01T00:00:00.001Z'),
  start: Date.parse('2280-01-01T00:10:00.002Z'),
  end: Date.parse('2280-01-01T01:00:00.003Z'),
};

/** Makes a copy of the tests' Worker whose event has these times, in milliseconds; returns its folder. */
export function workerWithEvent(times) {
  const from = join(root, 'target/e2e-worker');
  const folder = 'target/e2e-event-worker';
  mkdirSync(join(root, folder), { recursive: true });
  copyFileSync(join(from, 'index.js'), join(root, folder, 'index.js'));
  const wasm = readFileSync(join(from, 'index_bg.wasm'));
  for (const [name, declared] of Object.entries(DECLARED)) {
    const digits = String(declared);
    const at = wasm.indexOf(digits);
    if (at < 0 || wasm.indexOf(digits, at + 1) >= 0) throw new Error(`${digits} is not once in the WASM`);
    wasm.write(String(Math.round(times[name])), at);
  }
  writeFileSync(join(root, folder, 'index_bg.wasm'), wasm);
  return folder;
}
