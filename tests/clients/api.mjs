// Where the tests of the clients find an API: the native one of examples/api.rs, or the one that
// ANTEROOM_API names.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export const ZONE = '0000000000000000000000000000000a';
export const ACCOUNT = '0000000000000000000000000000000b';
export const WRITE = 'write-0123456789abcdef0123456789abcdef';
export const READ = 'read-0123456789abcdef0123456789abcdef';

/** `{url, stop()}`; the URL is without the prefix. */
export async function start() {
  const url = process.env.ANTEROOM_API;
  if (url) return { url, stop: async () => {} };
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
