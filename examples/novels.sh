#!/usr/bin/env bash
# Novels in brat, with names inside names: from annotated chapters to a page. Run it in an empty folder; see docs/quickstart-novels.md.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python "$here/make_data.py" novels novels

spanloom validate novels/train
spanloom stats novels/train
spanloom train novels/train --dev novels/dev -o novels.loom
spanloom evaluate novels.loom novels/dev --html report.html
spanloom tag novels.loom novels/new-chapter.txt -o chapter.html
spanloom tag novels.loom novels/new-chapter.txt -o brat:checked
