#!/usr/bin/env bash
# Two layers of CoNLL tags, as users of sklearn-crfsuite or spaCy have them: from columns to mentions of plain text. Run it in an empty
# folder; see docs/quickstart-tags.md.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python "$here/make_data.py" tags tags

spanloom stats "conll:tags/train.conll?tags=1,2"
spanloom train "conll:tags/train.conll?tags=1,2" --dev "conll:tags/dev.conll?tags=1,2" -o tags.loom
spanloom evaluate tags.loom "conll:tags/dev.conll?tags=1,2"
spanloom info tags.loom --top 3
echo "Lady Norland left Ashford Hall." | spanloom tag tags.loom --format jsonl > found.jsonl
spanloom convert "conll:tags/dev.conll?tags=1,2" dev.jsonl
