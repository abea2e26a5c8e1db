"""What the experiment on discontinuous mentions makes of data."""

from __future__ import annotations

from itertools import pairwise

import pytest

from experiments.multilabel import EXPERIMENT, KINDS, curve, folds, some
from experiments.runner import Run
from experiments.settings import recognizer
from spanloom import Document, Mention, Sentence
from spanloom.models import named


def test_kinds_of_mentions_that_are_scored_apart() -> None:
    """ "T and B cells" has a discontinuous member, one that crosses it, and one within the latter."""
    broken, crossing = Mention("cell", ((0, 1), (3, 4))), Mention("cell", ((2, 4),))
    nested, flat = Mention("cell", ((2, 3),)), Mention("cell", ((5, 6),))
    every = [broken, crossing, nested, flat]
    assert some(KINDS["both"], every) == some(KINDS["broken"], every) == [broken]
    assert some(KINDS["crossing"], every) == [broken, crossing]
    assert some(KINDS["any"], every) == [broken, crossing, nested]
    assert some(KINDS["both"], [broken, flat]) == []
    assert some(KINDS["any"], []) == []


def test_a_lower_threshold_finds_no_less() -> None:
    """Figure 5: what is found and what of it is right can only grow as the threshold falls."""
    a, b, c = (Mention("X", ((i, i + 1),)) for i in range(3))
    points = curve([[(2.0, a), (0.55, b), (-1.0, c)]], [[a, c]])
    assert [p["threshold"] for p in points] == sorted(p["threshold"] for p in points)
    by = {p["threshold"]: (p["gold"], p["right"], p["found"]) for p in points}
    assert by[2.0] == (2, 0, 0)
    assert by[1.9] == by[0.6] == (2, 1, 1)
    assert by[0.5] == by[-1.0] == (2, 1, 2)
    assert by[-1.1] == (2, 2, 3)
    for low, high in pairwise(points):
        assert low["found"] >= high["found"]
        assert low["right"] >= high["right"]


def test_every_document_is_test_data_once_and_never_beside_itself() -> None:
    docs = [Document([Sentence([f"w{i}"])], f"d{i}") for i in range(23)]
    seen: list[str] = []
    for train, dev, test in folds(docs, 3):
        words = [[s.tokens[0] for s in part] for part in (train, dev, test)]
        assert len(set().union(*words)) == sum(map(len, words)) == 23
        assert all(words)
        seen += words[2]
    assert sorted(seen) == sorted(f"w{i}" for i in range(23))


@pytest.mark.parametrize("run", EXPERIMENT.runs, ids=lambda run: run.name)
def test_the_settings_of_every_line_arrive_at_their_owner(run: Run) -> None:
    """Written down by hand: the old names in a line of the table, and where they stand in a recogniser."""
    places = {
        "chain": {"scheme": "model__scheme"},
        "multilabel": {"company": "model__rescore", "restrictions": "model__restrictions"},
    }[run.settings["model"]]
    params = recognizer({k: v for k, v in run.settings.items() if k != "data"}).get_params()
    assert named(params["model"]).name == run.settings["model"]
    assert params["trainer__max_iter"] == run.settings["max_iter"]
    assert params["keep"] == run.settings.get("overlap", "raise")
    for name, place in places.items():
        if name in run.settings:
            assert params[place] == run.settings[name]
    usual = {"chain": "lbfgs", "multilabel": "mira"}[run.settings["model"]]
    assert named(params["model"]).trainer(params["trainer"]).name == run.settings.get("algorithm", usual)
