// Attack: speak to a room's object, or to the control object, from outside, by its URL, its protocol or its name.
//
// Defence: the object is reached through the Worker's binding alone, and what it hears is written by
// the Worker (src/worker/call.rs). No request of a visitor is ever handed to it.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';

import { NAVIGATE, Visitor, ask } from '../e2e/harness/client.mjs';
import { ANTEROOM_API, Operator } from '../e2e/harness/operator.mjs';
import { stage } from '../e2e/harness/stage.mjs';

const { origin, server } = await stage({ vars: { ANTEROOM_API } });

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

/** Everything that the control object understands; the last is what it says to a room. */
function questions(id) {
  const call = { method: 'DELETE', path: '/client/v4/zones/0/waiting_rooms/0', authorization: null };
  const lax = { version: [9e15, 9], room: { id, total_active_users: 1e6 } };
  return [
    ...[{ look: { knows: [0, 0] } }, { room: { id } }, { api: call }].map((ask) => JSON.stringify(ask)),
    `policy ${JSON.stringify(lax)}`,
  ];
}

test('no request from outside reaches the control object, or tells a room what to go by', async () => {
  const operator = new Operator(server);
  const url = 'http://one-2.test/';
  const inside = new Visitor(server);
  await inside.open(url);
  const { id } = await operator.room('one-2.test');
  // Something is published, so that there is something to find.
  await operator.change('one-2.test', { description: 'a secret plan' });
  const { version } = await operator.standing();

  const places = ['control', 'object', 'anteroom.invalid', 'api.test', 'one-2.test', 'elsewhere.test', `${id}.room`];
  const paths = ['/', '/control', '/configuration/version', '/configuration/publication', '/.anteroom/configuration', `/${id}`];
  for (const body of questions(id)) {
    for (const host of places) {
      for (const path of paths) {
        for (const method of ['GET', 'POST', 'PUT']) {
          const headers = { Accept: '*/*', 'Content-Type': 'application/json', 'CF-Worker': 'anteroom' };
          const response = await ask(server.port, { host, path, method, headers, ...(method !== 'GET' && { body }) });
          assert.doesNotMatch(response.text, /"life"|"site"|a secret plan|"total_active_users"/, `${method} ${host}${path}`);
        }
      }
    }
  }
  assert.equal((await operator.standing()).version, version, 'nothing was changed');
  assert.equal((await new Visitor(server).open(url)).state, 'joining', 'and the room has one place still');
});

test('the copies of the configuration have no address', async () => {
  for (const target of ['https://anteroom.invalid/configuration/publication', 'http://anteroom.invalid/configuration/version']) {
    const socket = connect(server.port, '127.0.0.1');
    socket.end(`GET ${target} HTTP/1.1\r\nHost: anteroom.invalid\r\nConnection: close\r\n\r\n`);
    const chunks = [];
    for await (const chunk of socket) chunks.push(chunk);
    assert.doesNotMatch(Buffer.concat(chunks).toString(), /"life"|"site"/, target);
  }
});
