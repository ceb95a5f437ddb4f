#!/usr/bin/env bash
# Installs what the build and the tests need and is missing. Run it as often as you like: when nothing
# is missing it takes a moment.
#
#   scripts/setup.sh             for the Worker: Rust, its tools, the npm packages
#   scripts/setup.sh --browser   for the tests too: Chromium and fonts for the screenshots
#   scripts/setup.sh --bench     for the benchmark too: wrk
#   scripts/setup.sh --clients   for the long tests too: clients of the API in Python
#   scripts/setup.sh --cache-tests   for `make cache-tests` too: the public suite of tests for HTTP caches
set -euo pipefail
source "$(dirname "$0")/common.sh"

# Japanese and Arabic glyphs; Chromium itself brings none.
browser_packages=(chromium fonts-dejavu-core fonts-ipafont-gothic fonts-hosny-amiri)

require() {
    command -v "$1" >/dev/null || {
        printf 'setup: %s is missing. %s\n' "$1" "$2" >&2
        exit 1
    }
}

# rustup reads rust-toolchain.toml. It asks the network each time, so it is asked only when rustc or
# the target of that file is not there.
rust_toolchain() {
    local libdir
    if libdir=$(RUSTUP_AUTO_INSTALL=0 rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null) &&
        [[ -d $libdir && -d $(rustc --print sysroot)/lib/rustlib/src/rust/library ]] &&
        cargo clippy --version >/dev/null 2>&1 && cargo fmt --version >/dev/null 2>&1; then
        rustc --version
        return
    fi
    rustup toolchain install
}

# cargo_tool DIR BINARY CRATE@VERSION [ARGUMENTS...]
cargo_tool() {
    local dir=$1 binary=$2 crate=$3
    shift 3
    if [[ -x $dir/bin/$binary ]]; then
        echo "$dir/bin/$binary"
        return
    fi
    echo "building $crate, once for this machine: some minutes"
    # Without --locked: wasm-bindgen-cli's own lock file names a version that was withdrawn. With
    # --force: what an interrupted installation left behind is in nobody's way.
    env -u RUSTFLAGS -u CARGO_BUILD_TARGET cargo install "$crate" --root "$dir" --force "$@"
}

# The stamp tells for which lock file node_modules was made.
npm_packages() {
    local stamp=node_modules/.package-lock.sha256 sum
    sum=$(sha256sum <package-lock.json)
    if [[ -f $stamp && $(<"$stamp") == "$sum" ]]; then
        echo 'node_modules is up to date'
        return
    fi
    # npm itself runs on the system's Node and would warn that wrangler cannot.
    npm ci --no-audit --no-fund --loglevel=error
    echo "$sum" >"$stamp"
}

# debian_packages PACKAGE...
debian_packages() {
    local missing=() package
    for package in "$@"; do
        [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
            missing+=("$package")
    done
    if ((${#missing[@]} == 0)); then
        echo "installed: $*"
    elif ((EUID == 0)); then
        export DEBIAN_FRONTEND=noninteractive
        apt-get update --quiet=2
        apt-get install --yes --quiet=2 --no-install-recommends "${missing[@]}"
    else
        printf 'setup: some packages are missing. Install them with\n\n    sudo apt-get install --no-install-recommends %s\n\n' \
            "${missing[*]}" >&2
        return 1
    fi
}

# An environment with the packages of tests/clients/requirements.txt, keyed by that file.
clients() {
    local marker=$clients_dir/complete
    if [[ ! -f $marker ]]; then
        python3 -m venv --clear "$clients_dir"
        "$clients_dir/bin/pip" install --quiet --disable-pip-version-check -r tests/clients/requirements.txt
        touch "$marker"
    fi
    echo "$clients_dir"
}

# The suite, keyed by its version. It is no package of the project's: it has its own npm among its
# dependencies, and nothing else needs it.
cache_tests() {
    local marker=$cache_tests_dir/complete
    if [[ ! -f $marker ]]; then
        mkdir -p "$cache_tests_dir"
        printf '{"private":true}\n' >"$cache_tests_dir/package.json"
        npm install --prefix "$cache_tests_dir" --omit=dev --ignore-scripts --no-audit --no-fund \
            --loglevel=error "http-cache-tests@$cache_tests_version"
        touch "$marker"
    fi
    echo "$cache_tests_dir"
}

debian=()
with_clients=
with_cache_tests=
case ${1-} in
'') ;;
--browser) debian=("${browser_packages[@]}") ;;
--bench) debian=(wrk) ;;
--clients) with_clients=1 ;;
--cache-tests) with_cache_tests=1 ;;
*)
    echo "setup: unknown argument $1" >&2
    exit 2
    ;;
esac

require rustup 'See https://rustup.rs.'
require cc 'On Debian: apt-get install build-essential.'
require node 'On Debian: apt-get install nodejs npm (20 or newer).'
require npm 'On Debian: apt-get install nodejs npm (20 or newer).'

step 'Rust toolchain' rust_toolchain
step 'npm packages' npm_packages
step 'worker-build' cargo_tool "$worker_build_dir" worker-build "worker-build@$(crate_version worker)"
step 'wasm-bindgen' cargo_tool "$wasm_bindgen_dir" wasm-bindgen-test-runner \
    "wasm-bindgen-cli@$(crate_version wasm-bindgen)" \
    --no-default-features --bin wasm-bindgen --bin wasm-bindgen-test-runner
if [[ $with_clients ]]; then
    require python3 'On Debian: apt-get install python3-venv.'
    step 'Clients in Python' clients
fi
if [[ $with_cache_tests ]]; then
    step 'Tests for HTTP caches' cache_tests
fi
if ((${#debian[@]})); then
    step 'Debian packages' debian_packages "${debian[@]}"
fi
