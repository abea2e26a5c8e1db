#!/usr/bin/env bash
# Write the type stub of the native module anew. Run it after every change of native/bindings, with the package installed.
set -euo pipefail
cd "$(dirname "$0")/.."
python -m nanobind.stubgen -q -m spanloom._native -o src/spanloom/_native.pyi
