#!/usr/bin/env bash
# Fuzz everything that takes bytes for so many seconds in all: tools/fuzz.sh SECONDS [targets] [options of tests/fuzz/all.py].
#
# Needs atheris (pip install atheris), and clang with libFuzzer for the native harnesses, which are left out where it is
# not there. Python comes from $PYTHON. Builds are kept in $SPANLOOM_FUZZ_DIR (default: build/fuzz).
set -euo pipefail
cd "$(dirname "$0")/.."
work=${SPANLOOM_FUZZ_DIR:-$PWD/build/fuzz}
mkdir -p "$work"
native=(--native "$work/native")
tests/fuzz/native/build.sh "$work/native" || native=()
[ ${#native[@]} -gt 0 ] || echo "the native core is fuzzed through Python only: no harness was built" >&2
exec "${PYTHON:-python3}" tests/fuzz/all.py "$@" "${native[@]}" --found "$work/found"
