#!/usr/bin/env bash
# What worker-build takes for esbuild: the real one, with our entry module in the place of the generated
# one (src/worker/entry.js says why). Runs in worker-build's folder, with its arguments.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

cp "$root/src/worker/entry.js" shim.js
exec "$root/node_modules/.bin/esbuild" "$@"
