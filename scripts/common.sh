# shellcheck shell=bash
# What the scripts share: where things are, which versions are used, and how a step is announced.
# Sourced, never run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

# Tools that take minutes to build live in a cache of the user, keyed by version, so that a fresh
# clone finds them.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/anteroom

# Cargo.toml pins the two crates exactly; their command-line tools have to be of the same version.
crate_version() {
    sed -n "s/^$1 = \"=\([0-9.]*\)\"\$/\1/p" Cargo.toml
}
worker_build_dir=$cache/worker-build-$(crate_version worker)
wasm_bindgen_dir=$cache/wasm-bindgen-cli-$(crate_version wasm-bindgen)

# The Python of the API's clients, see setup.sh.
clients_dir=$cache/clients-$(sha256sum tests/clients/requirements.txt | cut -c 1-16)

# The public suite of tests for HTTP caches, see setup.sh.
cache_tests_version=0.4.5
cache_tests_dir=$cache/http-cache-tests-$cache_tests_version

# wrangler needs a newer Node than Debian's, so npm brings one. It is found first from here on.
PATH=$root/node_modules/.bin:$PATH

# Announces a step, runs it, and says how long it took. A step that fails ends the script.
step() {
    local name=$1 begin=$EPOCHREALTIME status=0
    shift
    printf '==> %s\n' "$name"
    "$@" || status=$?
    if ((status != 0)); then
        printf '==> %s: failed (exit %d, after %s)\n' "$name" "$status" "$(since "$begin")" >&2
        exit "$status"
    fi
    printf '    %s: %s\n' "$name" "$(since "$begin")"
}

# The time since $1, a value of EPOCHREALTIME, as `4.2 s`.
since() {
    local tenths=$(((${EPOCHREALTIME/[.,]/} - ${1/[.,]/}) / 100000))
    printf '%d.%d s' $((tenths / 10)) $((tenths % 10))
}
