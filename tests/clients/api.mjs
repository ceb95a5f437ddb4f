// Where the tests of the clients find an API: that of the Worker in workerd; with `native` that of
// examples/api.rs, which has no limit of calls; or the one that ANTEROOM_API_URL names.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { Origin } from '../e2e/harness/origin.mjs';
import { Workerd } from '../e2e/harness/workerd.mjs';

export const ZONE = '0000000000000000000000000000000a';
export const ACCOUNT = '0000000000000000000000000000000b';
export const WRITE = 'write-0123456789abcdef0123456789abcdef';
export const READ = 'read-0123456789abcdef0123456789abcdef';

const sha256 = (text) => createHash('sha256').update(text).digest('hex');
const SECRET = JSON.stringify({
  zone_id: ZONE,
  account_id: ACCOUNT,
  zone_names: ['example.com'],
  tokens: [
    { name: 'write', scope: 'write', sha256: sha256(WRITE) },
    { name: 'read', scope: 'read', sha256: sha256(READ) },
  ],
});

/** `{url, stop()}`; the URL is without the prefix. */
export async function start({ native = false } = {}) {
  const url = process.env.ANTEROOM_API_URL;
  if (url) return { url, stop: async () => {} };
  return native ? startNative() : startWorker();
}

async function startWorker() {
  const origin = await Origin.start();
  const server = await Workerd.start(origin, { vars: { ANTEROOM_API: SECRET } });
  const stop = async () => {
    await server.stop();
    origin.stop();
  };
  return { url: `http://127.0.0.1:${server.port}`, stop };
}

async function startNative() {
  const env = { ...process.env, WITHOUT_LIMIT: '1' };
  const child = spawn('cargo', ['run', '--quiet', '--example', 'api', '--', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(child.stdout)) {
    const found = /listening on (\S+)/.exec(line);
    if (!found) continue;
    const stop = async () => {
      child.kill();
      await once(child, 'exit');
    };
    return { url: found[1], stop };
  }
  throw new Error('the API did not start');
}
