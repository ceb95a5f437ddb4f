// Writes the running configuration to rooms.toml, and the rooms' own pages to templates/.
//
//   ANTEROOM_API_TOKEN=... node scripts/export.mjs <address of the API> <zone id> [folder]
//
// The address has the prefix if it is not /client/v4: https://api.example.com/client/v4. Files that are
// there already are replaced; look at them with `git diff` before you deploy.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { result } from './api.mjs';

const [address, zone, folder = '.'] = process.argv.slice(2);
const usage = 'where and which zone: make export URL=https://api.example.com ZONE=<zone id>';
const { version, rooms_toml: rooms, templates } = await result('export', usage, { address, zone, path: 'export' });
mkdirSync(join(folder, 'templates'), { recursive: true });
write('rooms.toml', rooms);
for (const [name, page] of Object.entries(templates)) {
  // The API makes these names; one that leads elsewhere is none of its.
  if (!/^[a-z0-9_-][a-z0-9._-]*\.html$/i.test(name)) throw new Error(`not the name of a page: ${name}`);
  write(join('templates', name), page);
}
console.log(`version ${version}`);

function write(name, body) {
  writeFileSync(join(folder, name), body);
  console.log(`wrote ${join(folder, name)}`);
}
