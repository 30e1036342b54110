#!/usr/bin/env bash
# release.sh VERSION BUNDLE builds the bundle for all platforms from the commit
# that is checked out, builds it once more in a clean clone with an empty build
# cache, and writes SHA256SUMS beside it if both builds gave the same bytes.
set -euo pipefail

cd "$(dirname "$0")/.."
version=$1 bundle=$2
sums=$(dirname "$bundle")/SHA256SUMS

changes=$(git status --porcelain)
if [[ -n "$changes" ]]; then
    echo "a release is built from a commit, and these changes are in none:" >&2
    echo "$changes" >&2
    exit 1
fi

sha256() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi; }

scratch=$(mktemp -d)
# Go's module cache, which the second build may fill, is read-only.
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

rm -rf "$sums" "$bundle" webapp/dist server/dist
make --no-print-directory dist

git clone --quiet . "$scratch/clone"
(
    cd "$scratch/clone"
    umask 077
    GOCACHE="$scratch/cache" TZ=Pacific/Kiritimati make --no-print-directory dist
)
if ! cmp "$bundle" "$scratch/clone/$bundle"; then
    echo "two builds of the same commit differ; nothing is released" >&2
    exit 1
fi

(cd "$(dirname "$bundle")" && sha256 "$(basename "$bundle")") >"$scratch/sums"
mv "$scratch/sums" "$sums"
echo
echo "version $version, commit $(git rev-parse HEAD), $(go env GOVERSION), Node $(node --version)"
cat "$sums"
