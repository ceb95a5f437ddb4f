// What the load test may be told: a target is named, and spared.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

import { Misuse, read } from '../../crowd/options.mjs';

const refused = (args, reason) => assert.throws(() => read(args), (error) => error instanceof Misuse && reason.test(error.message));

test('this machine gets ten thousand, a target two hundred', () => {
  assert.equal(read([]).visitors, 10_000);
  assert.equal(read([]).connections, 200);
  const target = read(['--url', 'https://preview.example.com/sale']);
  assert.equal(target.visitors, 200);
  assert.equal(target.url, 'https://preview.example.com/sale');
  assert.ok(Number.isInteger(target.seed));
});

test('what is out of its bounds is refused', () => {
  refused(['--visitors', '0'], /--visitors must be 1 to 20000/);
  refused(['--visitors', 'many'], /--visitors/);
  refused(['--visitors', '1.5'], /whole/);
  refused(['--minutes', '31'], /--minutes/);
  refused(['--connections', '201'], /--connections/);
  refused(['--no-show', '1.1'], /--no-show/);
  refused(['--host', 'a b'], /--host/);
  refused(['--frobnicate', '1'], /frobnicate/);
});

test('a target must be a site, and is not sent more than 200 visitors a second', () => {
  refused(['--url', ''], /not a URL/);
  refused(['--url', 'preview.example.com'], /not a URL/);
  refused(['--url', 'ftp://preview.example.com/'], /http/);
  refused(['--url', 'https://preview.example.com/?a=1'], /host and path only/);
  refused(['--url', 'https://preview.example.com/', '--visitors', '2000', '--span', '9'], /longer --span/);
  assert.equal(read(['--url', 'https://preview.example.com/', '--visitors', '2000', '--span', '10']).visitors, 2_000);
});

test('make load names the target or does nothing', () => {
  const { status, stderr } = spawnSync('make', ['load', 'URL='], { cwd: new URL('../..', import.meta.url), encoding: 'utf8' });
  assert.notEqual(status, 0);
  assert.match(stderr, /make load URL=https/);
});
