// What takes longer of the API's tests: the client from PyPI, and schemathesis, which makes up requests
// from docs/openapi.json. Both live in an environment of their own, see scripts/setup.sh --clients.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { ACCOUNT, start, WRITE, ZONE } from '../clients/api.mjs';

const bin = join(process.env.ANTEROOM_CLIENTS ?? '', 'bin');
const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
let folder;

before(() => {
  assert.ok(process.env.ANTEROOM_CLIENTS, 'ANTEROOM_CLIENTS is missing: the folder that scripts/setup.sh --clients tells');
  folder = mkdtempSync(join(tmpdir(), 'anteroom-clients-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function run(api, program, ...args) {
  const env = { ...process.env, ANTEROOM_API_URL: api.url };
  // Schemathesis leaves a folder where it runs.
  const { status, stdout, stderr } = spawnSync(join(bin, program), args, { cwd: folder, env, encoding: 'utf8' });
  assert.equal(status, 0, `${stdout}\n${stderr}`);
  return stdout + stderr;
}

async function call(api, path, body) {
  const response = await fetch(`${api.url}/client/v4/zones/${ZONE}/waiting_rooms${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${WRITE}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200);
  return (await response.json()).result;
}

test('the client from PyPI makes every call, and its types hold', async (t) => {
  const api = await start();
  t.after(api.stop);
  assert.match(run(api, 'python', at('tests/clients/pypi.py')), /Ran 6 tests/);
});

test('no request that the description allows, or nearly, breaks the API or its description', async (t) => {
  const api = await start({ native: true });
  t.after(api.stop);
  const limits = { total_active_users: 300, new_users_per_minute: 200 };
  const room = await call(api, '', { name: 'described', host: 'described.example.com', ...limits });
  const event = await call(api, `/${room.id}/events`, {
    name: 'opening',
    event_start_time: '2035-11-26T09:00:00Z',
    event_end_time: '2035-11-26T12:00:00Z',
  });
  const [rule] = await call(api, `/${room.id}/rules`, { action: 'bypass_waiting_room', expression: 'ssl' });
  const config = join(folder, 'schemathesis.toml');
  const parameters = { zone: ZONE, account: ACCOUNT, room: room.id, event: event.id, rule: rule.id };
  const lines = Object.entries(parameters).map(([name, value]) => `"path.${name}" = "${value}"`);
  // What is made is not to be deleted under the other requests' feet.
  const kept = ['delete_room', 'delete_event', 'delete_rule', 'replace_rules'];
  const off = kept.map((name) => `[[operations]]\ninclude-operation-id = "${name}"\nenabled = false\n`);
  writeFileSync(config, `[parameters]\n${lines.join('\n')}\n\n${off.join('\n')}`);
  const checks = [
    'not_a_server_error',
    'status_code_conformance',
    'content_type_conformance',
    'response_headers_conformance',
    'response_schema_conformance',
    'negative_data_rejection',
    'unsupported_method',
    'ignored_auth',
    'missing_required_header',
  ];
  const told = run(
    api,
    'schemathesis',
    `--config-file=${config}`,
    'run',
    at('docs/openapi.json'),
    `--url=${api.url}/client/v4`,
    `--header=Authorization: Bearer ${WRITE}`,
    `--checks=${checks.join()}`,
    '--phases=examples,coverage,fuzzing',
    '--max-examples=10',
    '--seed=1',
    '--continue-on-failure',
  );
  const cases = /(\d+) generated, \1 passed/.exec(told);
  assert.ok(cases, told);
  t.diagnostic(cases[0]);
});
