#!/usr/bin/env bash
# Run the tests with a native module built under AddressSanitizer and UndefinedBehaviorSanitizer.
#
#   tools/sanitize.sh [pytest arguments]        default: all tests that do not need a corpus
#
# The build and its environment are kept in $SPANLOOM_SANITIZE_DIR (default: build/sanitize) for the next run.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=${SPANLOOM_SANITIZE_DIR:-$root/build/sanitize}
python=${PYTHON:-python3}

[ -x "$work/venv/bin/python" ] || "$python" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check \
  --config-settings=cmake.define.SPANLOOM_SANITIZE=ON --config-settings=build-dir="$work/build" \
  --config-settings=install.strip=false "$root[test]"

# Both runtimes must come first: the interpreter itself is not built with them. libstdc++ must be there when ASan starts, or it
# cannot intercept the exceptions that the core throws.
preload=$(gcc -print-file-name=libasan.so):$(g++ -print-file-name=libstdc++.so)
# The other folders test what is written in Python alone.
[ $# -gt 0 ] || set -- tests -m "not corpus" --ignore "$root/tests/corpus" --ignore "$root/tests/evaluation" --ignore "$root/tests/test_storage.py"

# Python keeps memory until it ends, so leaks are not looked for. Tests that measure time or make processes see a slow module.
cd "$work"
LD_PRELOAD=$preload \
  ASAN_OPTIONS=detect_leaks=0:halt_on_error=1:abort_on_error=1 \
  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
  PYTHONMALLOC=malloc \
  "$work/venv/bin/python" -m pytest -q -p no:cacheprovider --rootdir "$root" -c "$root/pyproject.toml" "${@/#tests/$root/tests}"
