#!/usr/bin/env node
// The same as verify_draw.py, for Node:
//
//     verify_draw.mjs --commitment HEX --key HEX --count N --first N NUMBER...

import { createHash } from "node:crypto";
import { parseArgs } from "node:util";

const ROUNDS = 16;
const sha256 = (bytes) => createHash("sha256").update(bytes).digest();

function squareRootRoundedUp(n) {
  let root = BigInt(Math.floor(Math.sqrt(Number(n))));
  while (root * root < n) root += 1n;
  while ((root - 1n) * (root - 1n) >= n) root -= 1n;
  return root;
}

// The place, counted from 0, of a number that is counted from 0 among `count`.
function placeOf(number, key, count) {
  const rows = squareRootRoundedUp(count);
  const columns = (count + rows - 1n) / rows;
  const step = (round, line) => {
    const text = Buffer.alloc(41);
    key.copy(text);
    text.writeUInt8(round, 32);
    text.writeBigUInt64BE(line, 33);
    return sha256(text).readBigUInt64BE(0);
  };
  let at = number;
  do {
    let [row, column] = [at / columns, at % columns];
    for (let round = 0; round < ROUNDS; round += 1) {
      if (round % 2 === 0) row = (row + step(round, column)) % rows;
      else column = (column + step(round, row)) % columns;
    }
    at = row * columns + column;
  } while (at >= count);
  return at;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    commitment: { type: "string" },
    key: { type: "string" },
    count: { type: "string" },
    first: { type: "string" },
  },
});
const key = Buffer.from(values.key ?? "", "hex");
if (key.length !== 32) fail("--key must be 64 hexadecimal digits: drawKey");
if (values.commitment && sha256(key).toString("hex") !== values.commitment.toLowerCase())
  fail("The key is not the one that was committed to.");
const [count, first] = [BigInt(values.count), BigInt(values.first)];
for (const number of positionals.map(BigInt)) {
  if (number < first || number >= first + count) fail(`${number} took no part in this draw.`);
  console.log(String(first + placeOf(number - first, key, count)));
}
