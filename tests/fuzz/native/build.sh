#!/usr/bin/env bash
# Build the libFuzzer harnesses of the native core, with AddressSanitizer, UndefinedBehaviorSanitizer and the checks of
# the C++ library: tests/fuzz/native/build.sh FOLDER. Needs clang with libFuzzer (Debian: clang-16 libclang-rt-16-dev).
set -euo pipefail
cd "$(dirname "$0")/../../.."
out=$1
compiler=${CLANGXX:-$(command -v clang++ || command -v clang++-16 || command -v clang++-14 || true)}
[ -n "$compiler" ] || { echo "no clang++ here; set CLANGXX" >&2; exit 3; }
flags=(-std=c++20 -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
  -D_GLIBCXX_ASSERTIONS -Inative/include)
mkdir -p "$out/objects"
objects=()
for source in native/src/text/*.cpp native/src/base/parallel.cpp; do
  object=$out/objects/$(basename "$source" .cpp).o
  objects+=("$object")
  [ "$object" -nt "$source" ] || ${CXX_LAUNCHER:-} "$compiler" "${flags[@]}" -c "$source" -o "$object"
done
ar rcs "$out/objects/text.a" "${objects[@]}"
for source in tests/fuzz/native/fuzz_*.cpp; do
  "$compiler" "${flags[@]}" -fsanitize=fuzzer "$source" "$out/objects/text.a" -pthread -o "$out/$(basename "$source" .cpp)"
done
