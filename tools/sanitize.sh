#!/usr/bin/env bash
# Run tests with a native module that watches itself.
#
#   tools/sanitize.sh [address] [pytest arguments]   AddressSanitizer and UndefinedBehaviorSanitizer (the default)
#   tools/sanitize.sh leak [pytest arguments]        LeakSanitizer: memory of the native core that nothing points to
#   tools/sanitize.sh thread [pytest arguments]      ThreadSanitizer over everything that runs on several threads
#   tools/sanitize.sh valgrind [pytest arguments]    memcheck over a small set, with debug information
#
# The last two also have the checks of the C++ library (_GLIBCXX_ASSERTIONS). Builds and their environments are kept in
# $SPANLOOM_SANITIZE_DIR (default: build/sanitize) for the next run.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
python=${PYTHON:-python3}
mode=address
case "${1:-}" in address | leak | thread | valgrind) mode=$1 && shift ;; esac
kind=$mode
[ "$mode" != leak ] || kind=address  # LeakSanitizer is a part of it
work=${SPANLOOM_SANITIZE_DIR:-$root/build/sanitize}
[ "$kind" = address ] || work=$work-$kind

[ -x "$work/venv/bin/python" ] || "$python" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check \
  --config-settings=cmake.define.SPANLOOM_SANITIZE="$kind" --config-settings=build-dir="$work/build" \
  --config-settings=install.strip=false "$root[test]"
module=$("$work/venv/bin/python" -c 'import importlib.util, pathlib
print(*pathlib.Path(importlib.util.find_spec("spanloom").origin).parent.glob("_native*.so"))')
run=("$work/venv/bin/python" -m pytest -q -p no:cacheprovider)
export PYTHONMALLOC=malloc

# The runtime must come first, as the interpreter itself is not built with it, and the C++ library with it: ASan looks for
# its functions when it starts, without which it cannot follow exceptions.
case $mode in
  address)
    grep -q __asan_init "$module" || { echo "$module is built without sanitizers" >&2; exit 1; }
    if [ $# -eq 0 ]; then
      # One test holds two long paths to one optimum together to 1e-4, which builds at -O1 round apart; the release build runs it.
      set -- -m "not corpus" \
        --deselect tests/models/test_multiple_representations.py::test_as_many_parameters_as_labels_are_enough tests/native tests/features tests/models tests/inference \
        tests/test_tagging.py tests/corpus/test_tokenizer.py tests/corpus/test_sentences.py tests/test_recognizer.py
    fi
    # Python keeps memory until it ends, so leaks are not looked for here. Reports go to files: pytest takes what a test
    # prints, and a process that ends in the middle of one takes it along.
    log=$(mktemp -d)
    set -- -n "$(nproc)" --max-worker-restart=0 --capture=sys "$@"  # UBSan writes to the error stream all the same
    LD_PRELOAD=$(gcc -print-file-name=libasan.so):$(g++ -print-file-name=libstdc++.so) \
      ASAN_OPTIONS=detect_leaks=0:halt_on_error=1:abort_on_error=1:log_path="$log/address" \
      UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:log_path="$log/undefined" "${run[@]}" "$@" || {
      result=$?
      cat "$log"/* >&2 2>/dev/null || true
      echo "tests with sanitizers ended with $result" >&2
      exit "$result"
    }
    ;;
  leak)
    [ $# -gt 0 ] || set -- -n 0 tests/native/test_likelihood.py tests/native/test_decoder.py tests/native/test_parallel.py \
      tests/corpus/test_tokenizer.py
    # What the interpreter and other packages keep is theirs: only allocations of our module count.
    log=$(mktemp -d)/leaks
    LD_PRELOAD=$(gcc -print-file-name=libasan.so):$(g++ -print-file-name=libstdc++.so) \
      ASAN_OPTIONS=detect_leaks=1:log_path="$log":exitcode=0 LSAN_OPTIONS=use_unaligned=1 "${run[@]}" "$@"
    if cat "$log"* 2>/dev/null | awk -v RS= '/leak of/ && /_native/ && !/nanobind|nb_/' | grep -q .; then
      cat "$log"* | awk -v RS= '/leak of/ && /_native/ && !/nanobind|nb_/' | head -n 60 >&2
      exit 1
    fi
    echo "no leak of the native core"
    ;;
  thread)
    grep -q __tsan_init "$module" || { echo "$module is built without ThreadSanitizer" >&2; exit 1; }
    [ $# -gt 0 ] || set -- -n 0 tests/native/test_parallel.py tests/native/test_likelihood.py tests/native/test_decoder.py \
      tests/native/test_dual_ascent.py tests/native/test_bundles.py tests/test_tagging.py tests/test_determinism.py
    # NumPy and its threads are not built with it; only what our module does is judged.
    LD_PRELOAD=$(gcc -print-file-name=libtsan.so) OPENBLAS_NUM_THREADS=1 \
      TSAN_OPTIONS=halt_on_error=1:exitcode=66:ignore_noninstrumented_modules=1:report_signal_unsafe=0:die_after_fork=0 "${run[@]}" "$@"
    ;;
  valgrind)
    [ $# -gt 0 ] || set -- -n 0 tests/native/test_chain_kernel.py::test_textbook_example tests/native/test_graph.py \
      tests/corpus/test_tokenizer.py
    # Errors with our module on the stack count; the interpreter's own are left out.
    log=$(mktemp)
    OPENBLAS_NUM_THREADS=1 valgrind -q --log-file="$log" --num-callers=20 --error-limit=no "${run[@]}" "$@"
    if awk -v RS='==[0-9]+== \n' '/_native/ && /Invalid|uninitialised/' "$log" | grep -q .; then
      awk -v RS='==[0-9]+== \n' '/_native/ && /Invalid|uninitialised/' "$log" | head -n 60 >&2
      exit 1
    fi
    echo "no error of the native core"
    ;;
esac
