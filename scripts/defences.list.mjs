// The list of tests/security/defences.toml, checked.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";

/** What the attacks in Rust share: no attacks. */
const SHARED = ["main", "support", "api"];

/** The defences, each with `isRust`: whether its attack is tested without the Worker. */
export function defences(root) {
  const folder = join(root, "tests/security");
  const { defence } = parse(readFileSync(join(folder, "defences.toml"), "utf8"));
  return defence.map((one) => {
    const isRust = existsSync(join(folder, `${one.attack}.rs`));
    if (!isRust && !existsSync(join(folder, `${one.attack}.test.mjs`))) throw new Error(`there is no attack ${one.attack}`);
    const times = readFileSync(join(root, one.file), "utf8").split(one.takes).length - 1;
    if (times !== 1) throw new Error(`${one.attack}: ${one.file} has ${times} times: ${one.takes}`);
    return { ...one, isRust };
  });
}

/** The names of all attacks. */
export function attacks(root) {
  const names = readdirSync(join(root, "tests/security")).map((file) => /^(.*?)(?:\.rs|\.test\.mjs)$/.exec(file)?.[1]);
  return names.filter((name) => name && !SHARED.includes(name));
}
