#!/usr/bin/env bash
# `make cache-tests`: builds the Worker of the end-to-end tests and runs the public suite of tests for HTTP
# caches against it. Arguments are those of cache-tests.mjs.
set -euo pipefail
source "$(dirname "$0")/common.sh"

scripts/setup.sh --cache-tests
ANTEROOM_ROOMS=tests/e2e/rooms.toml scripts/build-worker.sh --out target/e2e-worker --features planted-panic
exec node scripts/cache-tests.mjs "$cache_tests_dir" "$@"
