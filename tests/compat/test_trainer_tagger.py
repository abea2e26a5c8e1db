"""``Trainer`` and ``Tagger`` by themselves: settings, messages, errors."""

from __future__ import annotations

import random

import numpy as np
import pytest

from compat.crf_data import sequences
from spanloom._native import AttributeCorpus, ChainFeatures
from spanloom.compat import ItemSequence, Tagger, Trainer


def test_settings_have_types_and_bounds():
    trainer = Trainer("pa", {"c": "0.5", "type": 2}, verbose=False)
    assert trainer.get_params()["c"] == 0.5
    trainer.set("averaging", 0)
    assert trainer.get("averaging") is False
    assert "aggressiveness" in trainer.help("c")
    for name, value in (("c", 0), ("c", "much"), ("max_iterations", 2.5), ("max_iterations", 0), ("epsilon", -1)):
        with pytest.raises(ValueError, match=f"'{name}' parameter must be"):
            trainer.set(name, value)
    with pytest.raises(ValueError, match="c1 is for lbfgs"):
        trainer.set("c1", 1)
    with pytest.raises(ValueError, match="one of MoreThuente"):
        Trainer("lbfgs", {"linesearch": "golden"})


@pytest.mark.parametrize("name", ["sgd", "", "crf2d"])
def test_algorithms_that_there_are_not_are_refused_with_those_that_there_are(name):
    with pytest.raises(ValueError, match="lbfgs, l2sgd, ap, pa and arow"):
        Trainer(name)
    with pytest.raises(ValueError, match="crf1d"):
        Trainer().select("lbfgs", "semim")


def test_messages_are_those_of_the_events(capsys):
    """What is printed is what is in the log, event after event."""
    X, y = sequences(10, 1)
    trainer = Trainer("l2sgd", {"max_iterations": 3})
    for number, (xseq, yseq) in enumerate(zip(X, y, strict=True)):
        trainer.append(xseq, yseq, number % 2)
    trainer.train("", holdout=1)
    log = trainer.logparser
    assert capsys.readouterr().out == "".join(log.log)
    names = ["start", "featgen_progress", "featgen_end", "prepared", *["iteration"] * 3, "optimization_end", "end"]
    assert [event for event, _, _ in log.events] == names
    assert [one["num"] for one in log.iterations] == [1, 2, 3]
    assert "type: CRF1d\n" in log.log
    assert "***** Epoch #3 *****\n" in log.log
    assert 0 <= log.last_iteration["item_accuracy"] <= 1


def test_a_broken_sequence_leaves_the_others_as_they_were():
    trainer = Trainer(verbose=False)
    trainer.append([["a"], ["b"]], ["x", "y"])
    for xseq, yseq, complaint in [
        ([["c"], {"d": None}], ["x", "y"], "sequence 1, item 1: attribute 'd' has the value None"),
        ([["c"], {"d": float("nan")}], ["x", "y"], "must be a finite number"),
        ([["c"], "text"], ["x", "y"], "must be a list of strings or a dict"),
        ([["c"], [3]], ["x", "y"], "an attribute is named 3"),
        ([["c"], [b"\xff"]], ["x", "y"], "is not UTF-8"),
        ([["c"]], ["x", "y"], r"\|x\| = 1, \|y\| = 2"),
        ([["c"], ["d"]], ["x", 3], "sequence 1, item 1: the label is 3"),
        ([["c"]], "x", "must be a sequence"),
        ("c", ["x"], "must be a sequence"),
    ]:
        with pytest.raises(ValueError, match=complaint):
            trainer.append(xseq, yseq)
    trainer.append((item for item in [("a",), {"b"}]), ("x", b"y"))
    model = trainer.train("")
    assert set(model.attributes) == {"a", "b"}
    assert Tagger.of(model).tag([["a"], ["b"]]) == ["x", "y"]


def test_without_data_there_is_a_model_without_labels(tmp_path):
    Trainer(verbose=False).train(tmp_path / "m")
    tagger = Tagger()
    with tagger.open(tmp_path / "m"):
        assert tagger.labels() == []
    trainer = Trainer(verbose=False)
    trainer.append([], [])
    trainer.append([["a"]], ["x"])
    tagger = Tagger.of(trainer.train(""))
    assert tagger.tag([]) == []
    assert tagger.probability([]) == tagger.marginal("x", 0) == 0.0
    assert tagger.tag([["new"], []]) == ["x", "x"]


def test_a_tagger_says_what_it_lacks(tmp_path):
    tagger = Tagger()
    for ask in (tagger.labels, tagger.info, lambda: tagger.tag([["a"]])):
        with pytest.raises(RuntimeError, match="call open"):
            ask()
    trainer = Trainer(verbose=False)
    trainer.append([["a"], ["b"]], ["x", "y"])
    trainer.train(tmp_path / "m")
    with tagger.open(tmp_path / "m"):
        with pytest.raises(ValueError, match="no sequence"):
            tagger.tag()
        tagger.set(ItemSequence([["a"], ["b"]]))
        assert tagger.tag() == ["x", "y"]
        with pytest.raises(ValueError, match="no label 'z'; it has x, y"):
            tagger.marginal("z", 0)
        with pytest.raises(ValueError, match="has no label 'z'"):
            tagger.probability(["x", "z"])
        with pytest.raises(ValueError, match="position 2"):
            tagger.marginal("x", 2)
        with pytest.raises(ValueError, match="differ"):
            tagger.probability(["x"])
    with pytest.raises(ValueError, match="call open"):
        tagger.labels()


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow"])
def test_threads_and_repetition_do_not_change_a_model(algorithm):
    X, y = sequences(40, 2)
    found = []
    for threads in (1, 2, 1):
        trainer = Trainer(algorithm, {"max_iterations": 8}, verbose=False)
        trainer.threads = threads
        for xseq, yseq in zip(X, y, strict=True):
            trainer.append(xseq, yseq)
        found.append(trainer.train("").state_features())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("c1", [0.0, 0.1])
def test_attributes_that_are_always_zero_change_nothing(c1):
    """They have no items, as one another, and were seen with different labels."""
    y = ["x", "y", "y"]
    zeros = [{"a": 0.0, "b": 1.0}, {"c": 0.0, "b": 1.0}, {"d": 0.0, "e": 2.0}]
    found = []
    for items in (zeros, [{name: value for name, value in item.items() if value} for item in zeros]):
        trainer = Trainer("lbfgs", {"c1": c1}, verbose=False)
        trainer.append(items, y)
        found.append(trainer.train("").state_features())
    assert found[0] == found[1]
    assert {name for name, _ in found[0]} == ({"e"} if c1 else {"b", "e"})


def test_many_labels_and_attributes_have_the_pairs_that_occur():
    """More pairs than get a counter each; by a count of our own."""
    draw = random.Random(3)
    items = [{f"a{draw.randint(0, 1800)}": value for value in (1.0, 0.5)} for _ in range(2500)]
    y = [f"l{draw.randint(0, 1000)}" for _ in items]
    corpus = AttributeCorpus()
    corpus.append(items, y)
    assert corpus.attributes * corpus.labels > 1 << 20
    names, labels = corpus.attribute_names(), corpus.label_names()
    counts: dict[tuple[str, str], float] = {}
    for item, label in zip(items, y, strict=True):
        for name, value in item.items():
            counts[name, label] = counts.get((name, label), 0.0) + value
    for least in (0.0, 0.75):
        features = ChainFeatures(corpus.sequences, corpus.attributes, corpus.labels, least)
        rows = np.repeat(np.arange(corpus.attributes), np.diff(features.ptr))
        found = [(names[a], labels[b]) for a, b in zip(rows.tolist(), features.labels.tolist(), strict=True)]
        assert sorted(found) == sorted(pair for pair, count in counts.items() if count >= least)
