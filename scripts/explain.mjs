// Says in plain words why the answers of an origin come by the upper tier that they come by.
//
//   ANTEROOM_API_TOKEN=... node scripts/explain.mjs <address of the API> <zone id> <origin>

import { result } from './api.mjs';

const [address, zone, origin] = process.argv.slice(2);
const usage = 'where, which zone and which origin:\nmake explain URL=https://api.example.com ZONE=<zone id> ORIGIN=192.0.2.1';
const { text } = await result('explain', usage, { address, zone, path: 'tiers/explain', query: { origin } });
process.stdout.write(text);
