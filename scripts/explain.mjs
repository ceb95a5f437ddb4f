// Says in plain words why the answers of an origin come by the upper tier that they come by.
//
//   ANTEROOM_API_TOKEN=... node scripts/explain.mjs <address of the API> <zone id> <origin>
//
// The address has the prefix if it is not /client/v4: https://api.example.com/client/v4.

const [address, zone, origin] = process.argv.slice(2);
const token = process.env.ANTEROOM_API_TOKEN;
if (!address || !zone || !origin || !token) {
  console.error('Say where, which zone and which origin:');
  console.error('make explain URL=https://api.example.com ZONE=<zone id> ORIGIN=192.0.2.1');
  console.error('and put a token with read scope into ANTEROOM_API_TOKEN.');
  process.exit(2);
}

const url = new URL(address);
const prefix = url.pathname === '/' ? '/client/v4' : url.pathname.replace(/\/$/, '');
const call = new URL(`${prefix}/zones/${zone}/anteroom/tiers/explain`, url);
call.searchParams.set('origin', origin);
const response = await fetch(call, { headers: { Authorization: `Bearer ${token}` } });
const text = await response.text();
if (!response.ok) {
  console.error(`explain: ${response.status} ${text}`);
  process.exit(1);
}
process.stdout.write(JSON.parse(text).result.text);
