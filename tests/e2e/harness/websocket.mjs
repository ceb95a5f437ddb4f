// As much of RFC 6455 as an echo needs: unfragmented text of less than 126 bytes.

import { createHash, randomBytes } from 'node:crypto';

/** The answer to a key of the handshake. */
export function accept(key) {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}

/** A frame of text; a client masks it. */
export function encode(text, masked) {
  const payload = Buffer.from(text);
  const head = Buffer.from([0x81, payload.length | (masked ? 0x80 : 0)]);
  if (!masked) return Buffer.concat([head, payload]);
  const mask = randomBytes(4);
  return Buffer.concat([head, mask, payload.map((byte, i) => byte ^ mask[i % 4])]);
}

/** Calls `heard` with each frame of text that arrives. */
export function decode(socket, heard) {
  let buffered = Buffer.alloc(0);
  socket.on('data', (data) => {
    buffered = Buffer.concat([buffered, data]);
    for (;;) {
      if (buffered.length < 2) return;
      const masked = (buffered[1] & 0x80) !== 0;
      const length = buffered[1] & 0x7f;
      const start = masked ? 6 : 2;
      if (buffered.length < start + length) return;
      const mask = buffered.subarray(2, start);
      const payload = buffered.subarray(start, start + length);
      const text = masked ? payload.map((byte, i) => byte ^ mask[i % 4]) : payload;
      if ((buffered[0] & 0x0f) === 1) heard(Buffer.from(text).toString());
      buffered = buffered.subarray(start + length);
    }
  });
}
