// Attack: speak to a room's object from outside, by its URL, its protocol or its name.
//
// Defence: the object is reached through the Worker's binding alone, and what it hears is written by
// the Worker (src/worker/call.rs). No request of a visitor is ever handed to it.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';

import { NAVIGATE, Visitor, ask } from '../e2e/harness/client.mjs';
import { stage } from '../e2e/harness/stage.mjs';

const { origin, server } = await stage();

/** Everything that a room understands, for the visitor with number 1. */
function messages(incarnation) {
  const number = 1;
  return [
    { leave: { number, incarnation } },
    { claim: { number: 2, incarnation, last_poll: Date.now() } },
    { renew: { number, incarnation } },
    { arrive: { ticket: 7, returning: true } },
  ].map((message) => JSON.stringify({ v: 1, messages: [message] }));
}

test('no request from outside reaches the room', async () => {
  const url = 'http://one-1.test/';
  const inside = new Visitor(server);
  await inside.open(url);
  const waiting = new Visitor(server);
  await waiting.queue(url);
  const [room, life] = inside.claims(url).aud.split('.');
  const incarnation = Number.parseInt(life, 16);

  const places = ['room', 'room:443', 'one-1.test', `${room}`, `${room}.room`, 'ROOM', 'elsewhere.test'];
  for (const body of messages(incarnation)) {
    for (const host of places) {
      for (const headers of [
        { 'Content-Type': 'application/json', Accept: '*/*' },
        { 'X-Forwarded-Proto': 'https', Accept: '*/*', 'CF-Worker': 'anteroom', Upgrade: 'x', Connection: 'Upgrade' },
        { 'X-Durable-Object': room, 'Anteroom-Room': room, Accept: '*/*' },
      ]) {
        const response = await ask(server.port, { host, method: 'POST', headers, body });
        assert.doesNotMatch(response.text, /"replies"|"snapshot"|"incarnation"|"serving"/, host);
      }
    }
    for (const path of ['/room', '/__room', '/ROOM', '/.anteroom', '/.anteroom/', '/.anteroom/room', `/.anteroom/${room}`]) {
      const response = await ask(server.port, { host: 'one-1.test', path, method: 'POST', headers: { Accept: '*/*' }, body });
      assert.equal(response.status, 503, path);
      assert.doesNotMatch(response.text, /"replies"|"snapshot"/, path);
    }
  }

  assert.equal((await inside.open(url)).text, 'the site', 'the session goes on');
  assert.equal((await new Visitor(server).open(url)).state, 'joining', 'and holds the only place');
  assert.equal((await waiting.poll(url)).json().cfWaitingRoom.position, 1);
  const next = new Visitor(server);
  await next.queue(url);
  assert.equal(next.claims(url).sub, '3', 'nobody has taken a number');
});

test('an absolute request target does not name the object either', async () => {
  origin.requests.length = 0;
  for (const target of ['https://room/', 'http://room/', 'https://room:443/']) {
    const socket = connect(server.port, '127.0.0.1');
    const body = JSON.stringify({ v: 1, messages: [] });
    socket.end(
      `POST ${target} HTTP/1.1\r\nHost: room\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const chunks = [];
    for await (const chunk of socket) chunks.push(chunk);
    assert.doesNotMatch(Buffer.concat(chunks).toString(), /"replies"|"snapshot"/, target);
  }
});

test('a host called room is a host like any other', async () => {
  const response = await ask(server.port, { host: 'room', headers: NAVIGATE });
  assert.equal(response.text, 'the site');
});
