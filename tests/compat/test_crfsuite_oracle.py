"""python-crfsuite as the oracle of ``spanloom.compat``: the same objective, optimum, labels and probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compat.crf_data import one_sequence, sequences
from spanloom.compat import CRF, ChainModel, ItemSequence, Tagger, Trainer
from spanloom.compat.crfsuite_file import unpack

pycrfsuite = pytest.importorskip("pycrfsuite")

TIGHT = {"epsilon": 1e-8, "delta": 1e-12}
UNSEEN = sequences(40, 9)[0]


def trained(trainer: Any, X: list[Any], y: list[Any], path: Path) -> tuple[ChainModel, Any]:
    """Train, store as a CRFsuite file, and read that."""
    for xseq, yseq in zip(X, y, strict=True):
        trainer.append(xseq, yseq)
    trainer.train(str(path))
    return unpack(path.read_bytes()), trainer.logparser


def both(algorithm: str, params: dict[str, Any], X: list[Any], y: list[Any], folder: Path) -> list[tuple[Any, Any]]:
    kinds = (pycrfsuite.Trainer, Trainer)
    return [
        trained(kind(algorithm, params, verbose=False), X, y, folder / f"{number}.crfsuite")
        for number, kind in enumerate(kinds)
    ]


def difference(ours: dict[Any, float], theirs: dict[Any, float]) -> float:
    return max(abs(ours.get(key, 0.0) - theirs.get(key, 0.0)) for key in ours.keys() | theirs.keys())


@pytest.mark.parametrize(
    ("params", "tolerance"),
    [
        ({"c2": 0.5}, 1e-3),
        ({"c1": 0.3, "c2": 0.1}, 5e-3),
        ({"feature.possible_states": True, "feature.possible_transitions": True}, 1e-3),
        ({"feature.minfreq": 2.0}, 1e-3),
        ({"c2": 0.2, "linesearch": "StrongBacktracking", "num_memories": 3}, 1e-3),
    ],
)
def test_lbfgs_finds_the_optimum_of_crfsuite(params, tolerance, tmp_path):
    """The same features have a weight, the weights agree, and the objective does."""
    X, y = sequences(60, 5)
    (theirs, their_log), (ours, our_log) = both("lbfgs", {**TIGHT, **params}, X, y, tmp_path)
    assert our_log.last_iteration["loss"] == pytest.approx(their_log.last_iteration["loss"], rel=1e-6)
    assert our_log.featgen_num_features == their_log.featgen_num_features
    assert ours.attributes == theirs.attributes
    assert ours.labels == theirs.labels
    assert difference(ours.state_features(), theirs.state_features()) < tolerance
    assert difference(ours.transition_features(), theirs.transition_features()) < tolerance
    mine, other = Tagger.of(ours), Tagger.of(theirs)
    for xseq in UNSEEN:
        assert mine.tag(xseq) == other.tag(xseq)
        for t in range(len(xseq)):
            for label in mine.labels():
                assert mine.marginal(label, t) == pytest.approx(
                    other.marginal(label, t), abs=1e-4 if tolerance < 2e-3 else 1e-3
                )


@pytest.mark.parametrize(
    ("algorithm", "params"),
    [
        ("ap", {"max_iterations": 7}),
        ("pa", {"max_iterations": 7}),
        ("pa", {"max_iterations": 7, "type": 2, "c": 0.3, "averaging": 0, "error_sensitive": 0}),
        ("pa", {"max_iterations": 5, "type": 0}),
        ("arow", {"max_iterations": 7, "variance": 0.5, "gamma": 2.0}),
        ("l2sgd", {"max_iterations": 40, "c2": 0.3}),
        ("l2sgd", {"max_iterations": 15, "calibration.eta": 0.01, "calibration.max_trials": 5, "period": 3}),
    ],
)
def test_online_algorithms_make_the_steps_of_crfsuite(algorithm, params, tmp_path):
    """On one sequence, whose order cannot differ: every weight, and the loss of every iteration."""
    X, y = one_sequence(5)
    (theirs, their_log), (ours, our_log) = both(algorithm, params, X, y, tmp_path)
    assert [i["loss"] for i in our_log.iterations] == pytest.approx([i["loss"] for i in their_log.iterations], abs=2e-6)
    assert difference(ours.state_features(), theirs.state_features()) < 1e-9
    assert difference(ours.transition_features(), theirs.transition_features()) < 1e-9


def test_crfsuite_reads_our_files_and_we_read_its(tmp_path):
    """Each opens what the other has written: labels, probabilities and marginals are the same."""
    X, y = sequences(60, 5)
    both("lbfgs", {"c1": 0.1, "c2": 0.1}, X, y, tmp_path)
    for name in ("0.crfsuite", "1.crfsuite"):
        ours, theirs = Tagger(), pycrfsuite.Tagger()
        ours.open(tmp_path / name)
        theirs.open(str(tmp_path / name))
        assert ours.labels() == theirs.labels()
        for xseq in UNSEEN:
            labels = theirs.tag(xseq)
            assert ours.tag(xseq) == labels
            assert ours.probability(labels) == pytest.approx(theirs.probability(labels), rel=1e-9)
            assert ours.marginal("B", len(xseq) - 1) == pytest.approx(theirs.marginal("B", len(xseq) - 1), abs=1e-9)


def test_what_is_in_a_model_is_what_crfsuite_says(tmp_path):
    """``info`` and ``dump``: header, names, weights, to the digits that CRFsuite prints."""
    X, y = sequences(60, 5)
    both("lbfgs", {"c1": 0.5}, X, y, tmp_path)
    ours, theirs = Tagger(), pycrfsuite.Tagger()
    ours.open(tmp_path / "0.crfsuite")
    theirs.open(str(tmp_path / "0.crfsuite"))
    for name in ("header", "labels", "attributes"):
        assert getattr(ours.info(), name) == getattr(theirs.info(), name)
    for name in ("transitions", "state_features"):
        assert getattr(ours.info(), name) == pytest.approx(getattr(theirs.info(), name), abs=1e-6)
    ours.dump(tmp_path / "ours")
    theirs.dump(str(tmp_path / "theirs"))
    assert (tmp_path / "ours").read_text() == (tmp_path / "theirs").read_text()


def test_item_sequences_are_those_of_python_crfsuite():
    items = [
        {"walk": 1, "shop": 0.5, "on": True, "off": False, "np": np.float32(0.25)},
        {"a": "x", "b": b"\xd0\xb0", "c": {"d": ["e", "f"], "g": {"h": -2}, "i": {"j"}}, "ü": 3},
        ["k", "l"],
        {"m"},
        {},
        {"n": 1}.keys(),
    ]
    ours, theirs = ItemSequence(items), pycrfsuite.ItemSequence(items)
    assert ours.items() == theirs.items()
    assert len(ours) == len(theirs) == 6
    assert repr(ours) == repr(theirs)


def test_held_out_scores_are_those_of_crfsuite():
    """The perceptron on one sequence has the same weights in both: so must be what is said of held-out sequences."""
    X, y = one_sequence(5)
    held = sequences(20, 8)
    logs = []
    for kind in (pycrfsuite.Trainer, Trainer):
        trainer = kind("ap", {"max_iterations": 3}, verbose=False)
        trainer.append(X[0], y[0])
        for xseq, yseq in zip(*held, strict=True):
            trainer.append(xseq, [*yseq[:-1], "E"], 1)  # a label that training does not have
        trainer.train("", holdout=1)
        logs.append(trainer.logparser)
    theirs, ours = (log.last_iteration for log in logs)
    assert {k: v for k, v in ours.items() if k not in ("time", "scores", "loss")} == pytest.approx(
        {k: v for k, v in theirs.items() if k not in ("time", "scores", "loss")}, abs=1e-6
    )
    for label, score in theirs["scores"].items():
        assert tuple(ours["scores"][label]) == pytest.approx(tuple(score), abs=5e-5)


def test_the_estimator_is_that_of_the_trainer(tmp_path):
    """``CRF`` gives its parameters to the algorithm under CRFsuite's names, and scores by hand are its own."""
    X, y = sequences(60, 5)
    given = {"c1": 0.2, "c2": 0.3, "feature.minfreq": 1.5, "feature.possible_transitions": True, **TIGHT}
    ((theirs, _), _) = both("lbfgs", given, X, y, tmp_path)
    crf = CRF(c1=0.2, c2=0.3, min_freq=1.5, all_possible_transitions=True, epsilon=1e-8, delta=1e-12).fit(X, y)
    assert difference(crf.transition_features_, theirs.transition_features()) < 5e-3
    assert crf.attributes_ == theirs.attributes
    assert crf.num_attributes_ == len(theirs.attributes)
    assert crf.size_ == (tmp_path / "0.crfsuite").stat().st_size
    found = crf.predict(UNSEEN)
    assert [list(labels) for labels in found] == [Tagger.of(theirs).tag(xseq) for xseq in UNSEEN]
    right = sum(a == b for f, g in zip(crf.predict(X), y, strict=True) for a, b in zip(f, g, strict=True))
    assert crf.score(X, y) == right / sum(map(len, y))


@pytest.mark.corpus
def test_a_converted_model_finds_the_same_labels_in_real_text(shared_data, tmp_path):
    """UNER-EWT with the tutorial's features, trained by CRFsuite: every development sentence, to the label."""
    from benchmarks.crfsuite_dropin import features, tagged

    train, dev = (tagged(f"uner:{shared_data}/uner-ewt?split={part}") for part in ("train", "dev"))
    trainer = pycrfsuite.Trainer("lbfgs", {"c1": 0.1, "c2": 0.1, "max_iterations": 30}, verbose=False)
    for sentence, labels in train[:3000]:
        trainer.append(features(sentence), labels)
    trainer.train(str(tmp_path / "m"))
    theirs = pycrfsuite.Tagger()
    theirs.open(str(tmp_path / "m"))
    crf = CRF.load(tmp_path / "m")
    crf.save(tmp_path / "m.loom")
    again = CRF.load(tmp_path / "m.loom")
    X = [features(sentence) for sentence, _ in dev]
    expected = [theirs.tag(xseq) for xseq in X]
    assert [list(labels) for labels in crf.predict(X)] == expected
    assert [list(labels) for labels in again.predict(X)] == expected
