#!/usr/bin/env bash
# Abstracts by the thousand: from two hundred annotated ones to the mentions of ten thousand. Run it in an empty folder; see
# docs/quickstart-abstracts.md.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python "$here/make_data.py" abstracts abstracts

spanloom train abstracts/train.jsonl --dev abstracts/dev.jsonl -o abstracts.loom
spanloom tag abstracts.loom "jsonl:abstracts/abstracts.jsonl.gz?text=abstract&id=pmid" --format mentions -o mentions.jsonl.gz
spanloom tag abstracts.loom "jsonl:abstracts/abstracts.jsonl.gz?text=abstract&id=pmid" --format mentions -o mentions/
spanloom tag abstracts.loom "jsonl:abstracts/abstracts.jsonl.gz?text=abstract&id=pmid" --format mentions -o mentions/ --resume
spanloom tag abstracts.loom abstracts/dev.jsonl --probabilities -o dev-found.jsonl
spanloom evaluate abstracts.loom abstracts/dev.jsonl
