// `make defences`: takes the defences of tests/security/defences.toml away, one at a time, in a copy of the
// project, and runs the test of the attack, which has to fail. Ends with 1 if one does not.
//
//   node scripts/defences.mjs [--rust] [ATTACK...]
//
// --rust leaves out those that need the Worker, whose build takes minutes each.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { defences } from "./defences.list.mjs";

const ROOT = new URL("..", import.meta.url).pathname;
const COPY = join(ROOT, "target/defences");

const { values, positionals } = parseArgs({ options: { rust: { type: "boolean" } }, allowPositionals: true });

/** The project as it is, without what was built; the copy keeps what it has built before. */
function copyProject() {
  const { stdout } = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
  const files = stdout.toString().split("\0").filter((file) => file && existsSync(join(ROOT, file)));
  for (const file of files) {
    // What has not changed keeps its time, so that cargo builds only what an edit touches.
    const [from, to] = [join(ROOT, file), join(COPY, file)];
    if (existsSync(to) && readFileSync(from).equals(readFileSync(to))) continue;
    mkdirSync(dirname(to), { recursive: true });
    cpSync(from, to);
  }
  const packages = join(COPY, "node_modules");
  if (!existsSync(packages)) symlinkSync(join(ROOT, "node_modules"), packages);
}

const run = (program, args, env) =>
  spawnSync(program, args, { cwd: COPY, encoding: "utf8", env: { ...process.env, ...env }, maxBuffer: 1 << 28 });

/** What the attack's test says in the copy: whether it could be built, and whether it passed. */
function attacked({ attack, isRust }) {
  if (isRust) {
    const built = run("cargo", ["test", "--quiet", "--test", "security", "--no-run"]);
    if (built.status !== 0) return { built: false, output: built.stderr };
    const { status, stdout } = run("cargo", ["test", "--quiet", "--test", "security", `${attack}::`]);
    return { built: true, passed: status === 0, output: stdout };
  }
  const built = run("scripts/build-worker.sh", ["--out", "target/e2e-worker", "--features", "planted-panic"], {
    ANTEROOM_ROOMS: "tests/e2e/rooms.toml",
  });
  if (built.status !== 0) return { built: false, output: built.stderr };
  const { status, stdout } = run("node", ["--test", `tests/security/${attack}.test.mjs`]);
  return { built: true, passed: status === 0, output: stdout };
}

const chosen = defences(ROOT).filter(
  ({ attack, isRust }) => (!values.rust || isRust) && (positionals.length === 0 || positionals.includes(attack)),
);
if (chosen.length === 0) {
  console.error("defences: there is no such attack in tests/security/defences.toml");
  process.exit(2);
}
const faults = [];
for (const [n, defence] of chosen.entries()) {
  const { attack, without, file, takes, gives } = defence;
  copyProject();
  const path = join(COPY, file);
  writeFileSync(path, readFileSync(path, "utf8").replace(takes, () => gives));
  const { built, passed, output } = attacked(defence);
  const verdict = !built ? "DOES NOT BUILD" : passed ? "NOT NOTICED" : "noticed";
  console.log(`${n + 1} of ${chosen.length}  ${verdict}  ${attack}, without: ${without}`);
  if (verdict !== "noticed") {
    faults.push(attack);
    console.log(output.slice(-4_000));
  }
}
copyProject();
console.log(faults.length ? `\n${faults.length} of ${chosen.length} NOT as they should be` : `\nAll ${chosen.length} are noticed.`);
process.exitCode = faults.length ? 1 : 0;
