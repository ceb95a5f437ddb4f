#!/usr/bin/env bash
# `make test`: all that is checked, cheap things first. Ends at the first failure. With --all, `make
# test-all`: what takes longer as well.
set -euo pipefail
source "$(dirname "$0")/common.sh"

all=
case ${1-} in
'') ;;
--all) all=1 ;;
*)
    echo "test: unknown argument $1" >&2
    exit 2
    ;;
esac

begin=$EPOCHREALTIME
log=$(mktemp)
passed_rust=0 passed_node=0 steps=0
current=start

finish() {
    local status=$?
    rm -f "$log"
    if ((status != 0)); then
        printf '\nFAILED in "%s" after %s.\n' "$current" "$(since "$begin")" >&2
    fi
}
trap finish EXIT

# Runs a step and keeps a copy of what it prints, to count from.
run() {
    current=$1
    ((steps += 1))
    step "$@" 2>&1 | tee "$log"
}

# The sum of the numbers that the sed expression $1 finds in the last step's output.
count() {
    sed -nE "$1" "$log" | awk '{ sum += $1 } END { print sum + 0 }'
}
count_rust() {
    ((passed_rust += $(count 's/.*test result: ok\. ([0-9]+) passed.*/\1/p'))) || true
}
count_node() {
    ((passed_node += $(count 's/^(ℹ|#) pass ([0-9]+)$/\2/p'))) || true
}

# Everything that decides is plain Rust; the runtime is named in one folder.
shell_stays_in_its_folder() {
    if grep -rnE '\b(worker|web_sys|js_sys|wasm_bindgen)::' src --include='*.rs' |
        grep -vE '^src/worker/|^src/lib\.rs:[0-9]+:.*mod worker'; then
        echo 'only src/worker may name the runtime' >&2
        return 1
    fi
}

# tests/wasm.rs alone: the other tests need crates that exist natively only.
wasm_tests() {
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER=$wasm_bindgen_dir/bin/wasm-bindgen-test-runner \
        cargo test --target wasm32-unknown-unknown --test wasm
}

# The Worker of the end-to-end tests has their rooms, and requests that panic on purpose.
test_worker() {
    ANTEROOM_ROOMS=tests/e2e/rooms.toml \
        scripts/build-worker.sh --out target/e2e-worker --features planted-panic
}

# The Worker of the release before. Where its commit cannot be had, its tests are left out and say so;
# in CI that is a failure, since nobody reads it there.
skipped=
previous_worker() {
    local status=0
    scripts/build-previous.sh || status=$?
    if ((status == 3)) && [[ -z ${CI-} ]]; then
        echo 'SKIPPED: the tests with the release before, for the reason above'
        return
    fi
    return "$status"
}

# The rooms of some end-to-end tests, with other settings.
changed_worker() {
    ANTEROOM_ROOMS=tests/long/changed.toml scripts/build-worker.sh --out target/changed-worker
}

# node_tests PATTERN...: a file at a time, because each starts a runtime of its own.
node_tests() {
    node --test --test-concurrency=1 --test-reporter=spec "$@"
}

run 'Set-up' scripts/setup.sh --browser
run 'Format' cargo fmt --check
run 'One folder names the runtime' shell_stays_in_its_folder
run 'Clippy, native' cargo clippy --all-targets -- -D warnings
run 'Clippy, wasm' cargo clippy --target wasm32-unknown-unknown --lib --test wasm -- -D warnings
run 'Tests, native' cargo test
count_rust
run 'The model of the queue' cargo test --profile model --test model
count_rust
run 'Tests, wasm' wasm_tests
count_rust
run 'Tests of the scripts' node_tests 'tests/*.test.mjs' 'tests/{crowd,chaos}/*.test.mjs'
count_node
run 'The Worker of the end-to-end tests' test_worker
run 'Tests, end to end' node_tests 'tests/{e2e,security,clients}/**/*.test.mjs'
count_node
run 'The Worker of the demo' scripts/build-worker.sh
run 'Tests, browser' node_tests 'tests/browser/**/*.test.mjs'
count_node
run 'Deploy check' node scripts/deploy-check.mjs
run 'make dev' node scripts/dev.mjs --check

if [[ $all ]]; then
    run 'The Worker of the release before' previous_worker
    grep --quiet '^SKIPPED' "$log" && skipped=' Skipped: the tests with the release before.'
    run 'The Worker with changed settings' changed_worker
    run 'Clients in Python' scripts/setup.sh --clients
    export ANTEROOM_CLIENTS=$clients_dir
    run 'Tests that take longer' node_tests 'tests/long/*.test.mjs'
    count_node
    run 'The public suite for HTTP caches' scripts/cache-tests.sh
    run 'Attacks without the defence' node scripts/defences.mjs --rust
    run 'Chaos' node chaos/run.mjs
    run 'A crowd' node crowd/run.mjs
fi

current=done
printf '\nPassed: %d tests in Rust, %d in Node, %d steps, in %s.%s\n' \
    "$passed_rust" "$passed_node" "$steps" "$(since "$begin")" "$skipped"
