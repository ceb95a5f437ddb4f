#!/usr/bin/env bash
# Builds the Worker. wrangler runs this (see wrangler.toml), and so do the tests and the benchmark.
#
#   scripts/build-worker.sh [--out DIR] [--features LIST]
#
# DIR is `build` unless given; it gets index.js and index_bg.wasm. ANTEROOM_ROOMS names another file
# of rooms than rooms.toml, relative to the project. Nothing is done when DIR was built from the same
# inputs.
set -euo pipefail
source "$(dirname "$0")/common.sh"

out=build
features=
while (($#)); do
    case $1 in
    --out) out=${2:?} ;;
    --features) features=${2:?} ;;
    *)
        echo "build-worker: unknown argument $1" >&2
        exit 2
        ;;
    esac
    shift 2
done
rooms=${ANTEROOM_ROOMS:-rooms.toml}

for tool in "$worker_build_dir/bin/worker-build" "$wasm_bindgen_dir/bin/wasm-bindgen" \
    node_modules/.bin/wasm-opt node_modules/.bin/esbuild; do
    [[ -x $tool ]] || {
        printf 'build-worker: %s is missing. Run scripts/setup.sh (or make setup) first.\n' "$tool" >&2
        exit 1
    }
done

[[ -f $rooms ]] || {
    echo "build-worker: there is no $rooms" >&2
    exit 1
}

# Everything the result depends on.
fingerprint() {
    printf '%s\n' "$features" "$rooms"
    local inputs=() input
    for input in Cargo.toml Cargo.lock build.rs rust-toolchain.toml package-lock.json "$rooms" \
        scripts/build-worker.sh scripts/bundle.sh scripts/common.sh src atlas templates data; do
        [[ -e $input ]] && inputs+=("$input")
    done
    find "${inputs[@]}" -type f -print0 | sort --zero-terminated | xargs --null sha256sum
}
stamp=$out/.inputs.sha256
inputs=$(fingerprint | sha256sum)
if [[ -f $stamp && -f $out/index.js && $(<"$stamp") == "$inputs" ]]; then
    echo "$out is up to date"
    exit
fi

# Without these three, worker-build downloads the tools itself, from elsewhere than the registries.
export WASM_BINDGEN_BIN=$wasm_bindgen_dir/bin/wasm-bindgen
export WASM_OPT_BIN=$root/node_modules/.bin/wasm-opt
# Calls esbuild with an entry module of ours.
export ESBUILD_BIN=$root/scripts/bundle.sh

# A panic must cost one request, not the isolate, so the Worker unwinds. The standard library of the
# wasm target aborts and is therefore built anew, which stable Rust does only when told that it may.
# (worker-build's own --panic-unwind does the same with nightly.)
export RUSTFLAGS=-Cpanic=unwind
export CARGO_UNSTABLE_BUILD_STD=std,panic_unwind
export RUSTC_BOOTSTRAP=1

export ANTEROOM_ROOMS=$rooms
rm -f "$stamp"
"$worker_build_dir/bin/worker-build" --release --out-dir "$out" ${features:+--features "$features"}
echo "$inputs" >"$stamp"
