#!/usr/bin/env bash
# Build with other versions of Python, and compare what models learn and find there with the expected digests:
# tools/pythons.sh 3.10 3.12 3.13. Interpreters are found as python3.X, or in pyenv. SPANLOOM_BUILD_TYPE=Debug compiles
# without optimisation.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
failed=0
for version in "$@"; do
  python=$(ls -d "$HOME"/.pyenv/versions/"$version".*/bin/python 2>/dev/null | tail -n 1)
  [ -n "$python" ] || python=$(command -v "python$version")
  [ -n "$python" ] || { echo "$version: not here"; failed=1; continue; }
  work=$(mktemp -d)
  "$python" -m venv "$work/venv" &&
    "$work/venv/bin/pip" install -q --disable-pip-version-check --config-settings=build-dir="$work/build" \
      --config-settings=cmake.build-type="${SPANLOOM_BUILD_TYPE:-Release}" "$root" pytest &&
    (cd "$work" && "$work/venv/bin/python" "$root/tools/digests.py" >"$work/digests") &&
    "$work/venv/bin/python" - "$work/digests" "$root/tests" <<'PYTHON' || failed=1
import json, platform, sys
sys.path.insert(0, sys.argv[2])
from test_determinism import MENTIONS
lines = [json.loads(line) for line in open(sys.argv[1])]
differ = [line["model"] for line in lines if MENTIONS[line["model"]] != line["mentions"]]
bits = __import__("hashlib").sha256("".join(line["weights"] for line in lines).encode()).hexdigest()[:16]
print(f"{platform.python_version()}: {len(lines)} models, weights {bits}, " + (f"DIFFER: {differ}" if differ else "mentions as expected"))
sys.exit(bool(differ))
PYTHON
  rm -rf "$work"
done
exit "$failed"
