#!/usr/bin/env bash
# Builds the Worker of the previous release in target/previous-worker, for the tests in which edges of one
# release meet rooms of the other. It comes from the history of this clone; a shallow clone fetches the
# one commit. Ends with 3 when the commit cannot be had.
set -euo pipefail
source "$(dirname "$0")/common.sh"

# The last commit of the release before. Move it with each release.
commit=bda6ee165bdea50587a2cc395dadd9011bf26b6f

out=target/previous-worker
source=target/previous-source

if [[ -f $out/.commit && $(<"$out/.commit") == "$commit" ]]; then
    echo "$out is up to date"
    exit
fi
# Whatever comes, a Worker of another release is not taken for this one.
rm -rf "$source" "$out"
if ! git cat-file -e "$commit^{commit}" 2>/dev/null &&
    ! GIT_TERMINAL_PROMPT=0 git fetch --quiet --depth 1 origin "$commit" 2>/dev/null; then
    echo "build-previous: commit $commit is neither here nor at origin (a shallow clone, or no clone?)" >&2
    exit 3
fi

mkdir -p "$source" "$out"
git archive "$commit" | tar --extract --directory "$source"
# Its own script builds it, with the tools that are here and the crates that are built already.
ln -s "$root/node_modules" "$source/node_modules"
CARGO_TARGET_DIR=$root/target ANTEROOM_ROOMS=tests/e2e/rooms.toml \
    "$source/scripts/build-worker.sh" --out build
cp "$source/build/index.js" "$source/build/index_bg.wasm" "$source/wrangler.toml" "$out/"
echo "$commit" >"$out/.commit"
