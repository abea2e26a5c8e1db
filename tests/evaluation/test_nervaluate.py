"""nervaluate as the oracle of its own numbers."""

from __future__ import annotations

import pytest

from extras import needs

pytestmark = pytest.mark.extras
needs("nervaluate")

from nervaluate.evaluator import Evaluator  # noqa: E402

from evaluation.test_interchange import LABELS, corpus  # noqa: E402
from spanloom.evaluation import evaluate  # noqa: E402
from spanloom.evaluation.interchange import SCHEMAS, to_nervaluate  # noqa: E402


@pytest.mark.parametrize("seed", range(20))
def test_nervaluate_counts_the_same(seed):
    """All counts and scores of the four schemas, over all labels and label by label."""
    gold, predicted = corpus(seed)

    def dicts(lists):
        ordered = (sorted(mentions, key=lambda m: m.start) for mentions in lists)
        return [[{"label": m.label, "start": m.start, "end": m.end - 1} for m in mentions] for mentions in ordered]

    theirs = Evaluator(dicts(s.mentions for s in gold), dicts(predicted), list(LABELS), loader="dict").evaluate()
    ours = to_nervaluate(evaluate(gold, predicted))
    for schema in SCHEMAS:
        assert ours["overall"][schema] == pytest.approx(vars(theirs["overall"][schema]))
        for label in ours["entities"]:
            assert ours["entities"][label][schema] == pytest.approx(vars(theirs["entities"][label][schema]))
