"""Digests of what models learn from the sample corpus and find in it.

::

    python tools/digests.py [--threads N] [MODEL...]

Prints one line of JSON for each model: a digest of its arrays (every bit of every weight), and one of the mentions that
it finds in the sample's test part. ``tests/test_determinism.py`` has the digests that are expected. Features and
trainers are spelled out, so that nothing here changes with defaults.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from typing import Any

from spanloom import Recognizer, read
from spanloom.base.model_file import from_bytes
from spanloom.features import FeatureSet
from spanloom.learning import LBFGS, SDCA

TEMPLATES = ("bias", "word[-1..1]", "suffix(lower(word), 1..3)", "shape(word)[-1..1]")
SETTINGS: dict[str, dict[str, Any]] = {
    "chain": {"model": "chain"},
    "chain-l1": {"model": "chain", "trainer": LBFGS(l1=0.5, max_iter=15)},
    "edge": {"model": "edge"},
    "state": {"model": "state"},
    "hypergraph": {"model": "hypergraph"},
    "semimarkov": {"model": "semimarkov", "trainer": LBFGS(max_iter=8)},
    "spans": {"model": "spans", "trainer": LBFGS(max_iter=8)},
    "memm": {"model": "memm"},
    "multilabel": {"model": "multilabel", "trainer": "auto"},
    "adagrad": {"model": "chain", "trainer": "adagrad"},
    "perceptron": {"model": "chain", "trainer": "perceptron"},
    # At the optimum: on the way there every rounding counts, as it decides which sentences come next.
    "sdca": {"model": "edge", "trainer": SDCA(tol=1e-6)},
}


def digests(name: str, threads: int) -> dict[str, str]:
    """Train one model and return its digests."""
    given = {"trainer": LBFGS(max_iter=15), **SETTINGS[name]}
    ner = Recognizer(**given, features=FeatureSet(TEMPLATES), keep="longest", decide="best", seed=3, threads=threads)
    if isinstance(given["trainer"], str):
        ner.set_params(trainer__max_iter=3)
    ner.fit(read("sample:train"))
    arrays, _ = from_bytes(ner.to_bytes())
    weights, found = hashlib.sha256(), hashlib.sha256()
    for key in sorted(arrays):
        weights.update(f"{key} {arrays[key].dtype.str} {arrays[key].shape}".encode() + arrays[key].tobytes())
    for doc in read("sample:test"):
        mentions = sorted((m.label, m.parts) for m in ner.predict(doc).mentions)
        found.update(json.dumps([doc.id, mentions]).encode())
    return {"weights": weights.hexdigest()[:16], "mentions": found.hexdigest()[:16]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("models", nargs="*", choices=[*SETTINGS, []], help="all if none is named")
    options = parser.parse_args()
    for model in options.models or SETTINGS:
        print(json.dumps({"model": model, **digests(model, options.threads)}), flush=True)
