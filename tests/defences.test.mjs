// That the list of defences fits the code and leaves no attack out. Whether each is noticed when it is gone
// takes longer: `make defences`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { attacks, defences } from "../scripts/defences.list.mjs";

const ROOT = new URL("..", import.meta.url).pathname;

test("each attack has a defence that can be taken away", () => {
  const named = new Set(defences(ROOT).map(({ attack }) => attack));
  assert.deepEqual(attacks(ROOT).filter((attack) => !named.has(attack)), []);
});
