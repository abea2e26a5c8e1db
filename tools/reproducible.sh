#!/usr/bin/env bash
# Build sdist and wheel twice, from copies of the committed files in two folders, and compare their bytes.
#
#   tools/reproducible.sh [FOLDER]       the second pair is kept there, with SHA256SUMS
#
# Needs the packages of [build-system] in pyproject.toml and build (pip install build). Takes two compilations.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
commit=$(git rev-parse HEAD)  # commits that come while this runs do not count
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH CCACHE_DISABLE=1

for place in "$work/one" "$work/two/elsewhere"; do
  mkdir -p "$place/source" "$place/dist"
  git archive "$commit" | tar x -C "$place/source"
  flags="-ffile-prefix-map=$place/source=. -fmacro-prefix-map=$place/source=."
  (cd "$place/source" && CXXFLAGS="$flags" "$python" -m build --no-isolation --outdir "$place/dist" . >"$place/log" 2>&1) ||
    { tail -n 30 "$place/log" >&2; exit 1; }
  (cd "$place/dist" && sha256sum -- *) | tee "$place/sums"
done
if cmp -s "$work/one/sums" "$work/two/elsewhere/sums"; then
  echo "both builds have the same bytes"
  if [ $# -gt 0 ]; then
    mkdir -p "$1" && cp "$work"/two/elsewhere/dist/* "$1" && cp "$work/two/elsewhere/sums" "$1/SHA256SUMS"
  fi
else
  echo "the builds differ" >&2
  exit 1
fi
