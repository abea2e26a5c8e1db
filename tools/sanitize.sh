#!/usr/bin/env bash
# Run the tests with a native module built under AddressSanitizer and UndefinedBehaviorSanitizer.
#
#   tools/sanitize.sh [pytest arguments]        default: the tests of the native core and what drives it
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

module=$("$work/venv/bin/python" -c 'import importlib.util, pathlib
print(*pathlib.Path(importlib.util.find_spec("spanloom").origin).parent.glob("_native*.so"))')
grep -q __asan_init "$module" || { echo "$module is built without sanitizers" >&2; exit 1; }

# Both runtimes must come first: the interpreter itself is not built with them, and ASan looks for the C++ library's
# functions when it starts, without which it cannot follow exceptions.
preload=$(gcc -print-file-name=libasan.so):$(g++ -print-file-name=libstdc++.so)

if [ $# -eq 0 ]; then
  set -- -m "not corpus" tests/native tests/features tests/models tests/inference \
    tests/test_tagging.py tests/corpus/test_tokenizer.py tests/corpus/test_sentences.py tests/test_recognizer.py
fi

# Python keeps memory until it ends, so leaks are not looked for.
LD_PRELOAD=$preload \
  ASAN_OPTIONS=detect_leaks=0:halt_on_error=1:abort_on_error=1 \
  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
  PYTHONMALLOC=malloc \
  "$work/venv/bin/python" -m pytest -q -p no:cacheprovider "$@"
