"""The default set on real text."""

from __future__ import annotations

from pathlib import Path

import feature_oracle as oracle
import pytest

from spanloom import Sentence
from spanloom.features import FeatureExtractor, FeatureSet


@pytest.mark.corpus
def test_default_set_equals_the_oracle_on_web_text(shared_data: Path) -> None:
    """On 150 sentences of UNER-EWT, names, ids and rows are those of the definition."""
    text = (shared_data / "uner-ewt" / "en_ewt-ud-dev.iob2").read_text(encoding="utf-8")
    blocks = [[line.split("\t")[1] for line in b.split("\n") if line and line[0] != "#"] for b in text.split("\n\n")]
    sentences = [Sentence(words) for words in blocks if words]
    train, test = sentences[:100], sentences[100:150]
    features = FeatureSet.named("default")
    extractor = FeatureExtractor(features)
    rows = extractor.fit(train)
    names, expected = oracle.fit(features, train)
    assert extractor.names() == names
    found = [
        sorted(names[f] for f in rows.ids[rows.row_ptr[r] : rows.row_ptr[r + 1]].tolist()) for r in range(rows.rows)
    ]
    assert found == [sorted(name for name, _ in row) for row in expected]
    rows = extractor.transform(test)
    known = set(names)
    fresh = [sorted(name for name, _, _ in row if name in known) for row in oracle.rows(features, test)]
    found = [
        sorted(names[f] for f in rows.ids[rows.row_ptr[r] : rows.row_ptr[r + 1]].tolist()) for r in range(rows.rows)
    ]
    assert found == fresh
