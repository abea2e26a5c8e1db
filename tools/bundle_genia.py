"""Make the model that comes with spanloom: ``python tools/bundle_genia.py --data ../shared/data``.

It is trained on the training part of GENIA with five labels (the split of the papers), made small on the development
part, and scored once on the test part. The figures go into ``src/spanloom/data/models/genia.json``, the model beside
it. The annotations of GENIA are licensed under CC BY 3.0; ``src/spanloom/data/models/README.md`` names them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from dataclasses import replace
from pathlib import Path

from spanloom import Recognizer, read
from spanloom.features import FeatureSet
from spanloom.learning import LBFGS

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "spanloom" / "data" / "models"
LEAST = (0.1, 0.07, 0.05, 0.03, 0.02)
WITHIN = 0.1


def commit() -> str:
    """Return the commit of the tree; refuses one with changes, from which nobody could make the model again."""
    changes = subprocess.run(
        ["git", "status", "--porcelain", "src", "native", "tools"], capture_output=True, text=True, cwd=ROOT
    )
    if changes.stdout.strip():
        raise SystemExit(f"commit first:\n{changes.stdout}")
    done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=ROOT, check=True)
    return done.stdout.strip()


def main() -> None:
    """Train, make small, score, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    made_by = commit()
    train, dev, test = (
        list(read(f"genia:{given.data}/genia?classes=5&split={part}")) for part in ("train", "dev", "test")
    )
    features = replace(FeatureSet.named("default"), min_count=2)
    ner = Recognizer("edge", features=features, trainer=LBFGS(l2=0.5), keep="longest", threads=given.threads)
    ner.fit(train)
    ner.tune_mention_penalty(dev)
    before = ner.score(dev).f1
    TARGET.mkdir(parents=True, exist_ok=True)
    path = TARGET / "genia.loom"
    for least in LEAST:
        ner.compact(least).save(path, weights="int8")
        small = Recognizer.load(path, threads=given.threads)
        after = small.score(dev).f1
        print(f"least {least:g}: {path.stat().st_size / 1e6:.2f} MB, dev F1 {100 * after:.2f} of {100 * before:.2f}")
        if 100 * (before - after) <= WITHIN:
            break
    score = small.score(test).micro
    facts = {
        "command": "python tools/bundle_genia.py --data ../shared/data",
        "commit": made_by,
        "model": "edge, default features that occur at least twice, L2 0.5",
        "least": least,
        "bytes": path.stat().st_size,
        "dev F1 before compacting": round(100 * before, 2),
        "dev F1": round(100 * after, 2),
        "test P": round(100 * score.precision, 2),
        "test R": round(100 * score.recall, 2),
        "test F1": round(100 * score.f1, 2),
    }
    (TARGET / "genia.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(facts, indent=2))


if __name__ == "__main__":
    main()
