"""What the experiment on broken mentions makes of data."""

from __future__ import annotations

from experiments.multilabel import EXPERIMENT, folds, hard
from spanloom import Document, Mention, Recognizer, Sentence


def test_hard_mentions_are_broken_or_crossing() -> None:
    """Nested ones are not: "T and B cells" has a broken member and one that crosses it."""
    broken, crossing = Mention("cell", ((0, 1), (3, 4))), Mention("cell", ((2, 4),))
    nested, flat = Mention("cell", ((2, 3),)), Mention("cell", ((5, 6),))
    assert hard([broken, crossing, nested, flat]) == [broken, crossing]
    assert hard([crossing, nested, flat]) == []
    assert hard([]) == []


def test_every_document_is_test_data_once_and_never_beside_itself() -> None:
    docs = [Document([Sentence([f"w{i}"])], f"d{i}") for i in range(23)]
    seen: list[str] = []
    for train, dev, test in folds(docs, 3):
        words = [[s.tokens[0] for s in part] for part in (train, dev, test)]
        assert len(set().union(*words)) == sum(map(len, words)) == 23
        assert all(words)
        seen += words[2]
    assert sorted(seen) == sorted(f"w{i}" for i in range(23))


def test_the_settings_of_every_line_are_those_of_a_recogniser() -> None:
    for run in EXPERIMENT.runs:
        settings = {k: v for k, v in run.settings.items() if k != "data"}
        assert Recognizer(**settings).get_params().items() >= settings.items()
