"""Tuning and cross-validation with a recogniser whose scores are known in advance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from spanloom.base.errors import ParameterError
from spanloom.configuration import configure
from spanloom.corpus import Document, Mention, Sentence
from spanloom.formats import read
from spanloom.recognizer import Recognizer
from spanloom.tuning import L2_VALUES, cross_validate, tune

WORDS = ["w"] * 10


class Step(NamedTuple):
    """An iteration of training."""

    objective: float


class Known:
    """Finds the first ``10·l2`` of the gold mentions, less those whose place is below ``threshold``.

    ``log`` is a file that gets a line for every training.
    """

    def __init__(self, l2=0.5, threshold=0, log="", threads=None, fail=False):
        self.l2, self.threshold, self.log, self.fail = l2, threshold, log, fail

    def full_name(self, name):
        return name

    def set_params(self, **params):
        vars(self).update(params)
        return self

    def fit(self, corpus):
        if self.fail:
            raise RuntimeError("training broke")
        if self.log:
            with Path(self.log).open("a") as out:
                out.write(f"{self.l2} {len(corpus)}\n")
        self.history_ = [Step(3.0), Step(2.5)]
        return self

    def predict(self, corpus):
        return [
            Document([s.with_mentions([m for m in s.mentions[: round(10 * self.l2)] if m.start >= self.threshold])])
            for d in corpus
            for s in d.sentences
        ]


def make(settings):
    """Importable, so that other processes find it."""
    return Known(**settings)


def documents(n):
    """Documents of one sentence with ten one-word mentions."""
    mentions = [Mention("X", ((i, i + 1),)) for i in range(10)]
    return [Document([Sentence(WORDS, mentions)], id=str(i)) for i in range(n)]


def test_the_best_of_the_grid_is_found():
    """Recall is l2: 0.2, 0.9, 0.4."""
    found = tune(documents(3), documents(2), grid={"l2": [0.2, 0.9, 0.4]}, processes=1, make=make)
    assert [t.score.recall for t in found.trials] == [0.2, 0.9, 0.4]
    assert found.best.settings == {"l2": 0.9}
    assert found.best.score.gold == 20
    assert json.loads(json.dumps(found.to_json()))["best"]["recall"] == 0.9


def test_decoding_parameters_need_no_new_training(tmp_path):
    """Two trainings for six trials."""
    log = tmp_path / "log"
    grid = {"l2": [0.5, 1.0], "threshold": [0, 2, 5]}
    found = tune(documents(3), documents(1), grid=grid, base={"log": str(log)}, processes=1, make=make)
    assert [(t.settings["l2"], t.settings["threshold"], t.score.found) for t in found.trials] == [
        (0.5, 0, 5),
        (0.5, 2, 3),
        (0.5, 5, 0),
        (1.0, 0, 10),
        (1.0, 2, 8),
        (1.0, 5, 5),
    ]
    assert log.read_text() == "1.0 3\n0.5 3\n"


def test_cross_validation_pools_the_folds(tmp_path):
    """Four folds of ten documents: trained on 7 or 8, and all 100 mentions are scored."""
    log = tmp_path / "log"
    found = tune(documents(10), k=4, grid={"l2": [0.3]}, base={"log": str(log)}, processes=1, make=make)
    assert found.best.score.gold == 100
    assert found.best.score.found == 30
    assert sorted(line.split()[1] for line in log.read_text().splitlines()) == ["7", "7", "8", "8"]


def test_a_learning_curve_is_a_grid_over_the_share_of_the_data(tmp_path):
    """10, 25 and 100 % of eight documents are one, two and eight."""
    log = tmp_path / "log"
    grid = {"share": [0.1, 0.25, 1]}
    found = tune(documents(8), documents(1), grid=grid, base={"log": str(log)}, processes=1, make=make)
    assert log.read_text() == "0.5 1\n0.5 2\n0.5 8\n"
    assert [t.settings for t in found.trials] == [{"share": 0.1}, {"share": 0.25}, {"share": 1}]
    assert found.trials[0].objective == [3.0, 2.5]
    with pytest.raises(ParameterError, match="share must be above 0 and at most 1, got 0"):
        tune(documents(8), documents(1), grid={"share": [0]}, processes=1, make=make)


def test_an_interrupted_search_goes_on(tmp_path):
    """Finished trainings are not done again, even if the last line of the file was cut short."""
    log, state = tmp_path / "log", tmp_path / "state.jsonl"
    settings = {"base": {"log": str(log)}, "processes": 1, "make": make, "state": state}
    tune(documents(3), documents(1), grid={"l2": [0.1, 0.2]}, **settings)
    state.write_text(state.read_text()[:-20])
    found = tune(documents(3), documents(1), grid={"l2": [0.1, 0.2, 0.3]}, **settings)
    assert log.read_text().splitlines() == ["0.2 3", "0.1 3", "0.3 3", "0.1 3"]
    assert [t.score.recall for t in found.trials] == [0.1, 0.2, 0.3]
    assert len(state.read_text().splitlines()) == 3
    tune(documents(4), documents(1), grid={"l2": [0.1]}, **settings)
    assert log.read_text().splitlines()[4:] == ["0.1 4"]


def test_a_failure_keeps_what_is_done(tmp_path):
    """The first training is in the file when the second breaks."""
    state = tmp_path / "state.jsonl"
    with pytest.raises(RuntimeError, match="training broke"):
        tune(documents(2), documents(1), grid={"fail": [False, True]}, processes=1, make=make, state=state)
    assert len(state.read_text().splitlines()) == 1


def test_other_files_are_not_overwritten(tmp_path):
    """A state file that is something else is refused."""
    (tmp_path / "notes.txt").write_text("hello\n")
    with pytest.raises(ParameterError, match="not a file of finished trials"):
        tune(documents(2), documents(1), grid={"l2": [1]}, state=tmp_path / "notes.txt", make=make, processes=1)


def test_processes_give_the_same_trials():
    """Two at a time, in other interpreters; the order is that of the grid."""
    grid = {"l2": [0.2, 0.9, 0.4]}
    found = tune(documents(3), documents(2), grid=grid, processes=2, make=make)
    assert [t.score.recall for t in found.trials] == [0.2, 0.9, 0.4]


def test_bad_calls_are_refused():
    """Each with what to do."""
    with pytest.raises(ParameterError, match="give one of them"):
        tune(documents(3))
    with pytest.raises(ParameterError, match="give one of them"):
        tune(documents(3), documents(3), k=2)
    with pytest.raises(ParameterError, match="list of values for l2, got \\[\\]"):
        tune(documents(3), documents(3), grid={"l2": []})
    with pytest.raises(ParameterError, match="processes must be at least 1, got 0"):
        tune(documents(3), documents(3), processes=0)


def test_ten_values_of_l2_by_default():
    """Ascending, all different."""
    assert len(L2_VALUES) == len(set(L2_VALUES)) == 10
    found = tune(documents(2), documents(1), processes=1, make=make)
    assert [t.settings["l2"] for t in found.trials] == list(L2_VALUES)


def test_cross_validation_predicts_every_document_in_order(tmp_path):
    """Documents keep their ids and places; the folds' scores add up to the report."""
    state = tmp_path / "state.jsonl"
    for _ in range(2):
        found = cross_validate(documents(7), 3, settings={"l2": 0.3}, processes=1, make=make, state=state)
        assert [d.id for d in found.predicted] == [str(i) for i in range(7)]
        assert found.report.recall == pytest.approx(0.3)
        assert [s.gold for s in found.folds] == [30, 20, 20]
        assert found.spread == pytest.approx(0.0)
        assert len(found.to_json()["folds"]) == 3
    assert len(state.read_text().splitlines()) == 3


def test_the_real_recogniser_is_tuned():
    """min_count changes the feature set; every trial is what training by hand gives."""
    base = {"keep": "outermost", "max_iter": 4, "threads": 1}
    train, dev = list(read("sample:train"))[:15], list(read("sample:dev"))[:5]
    found = tune(train, dev, grid={"min_count": [1, 3]}, base=base, processes=1)
    sizes = []
    for trial in found.trials:
        ner = configure({**base, **trial.settings}).fit(train)
        assert trial.score == ner.score(dev).micro
        sizes.append(ner.extractor_.size)
    assert sizes[0] > sizes[1]
    assert isinstance(ner, Recognizer)


def test_penalties_follow_each_other_to_the_same_optima():
    """Each value has the objective of a training of its own, and all but the first take fewer iterations."""
    train, dev = list(read("sample:train"))[:12], list(read("sample:dev"))
    base = {"model": "chain", "keep": "longest", "features": ["word[-1..1]", "suffix(word,3)"], "threads": 1}
    found = tune(train, dev, grid={"l2": [0.1, 1.0, 0.3]}, base=base, processes=1)
    for trial in found.trials:
        alone = configure({**base, **trial.settings}).fit(train)
        assert trial.objective[-1] == pytest.approx(alone.training_["objective"], rel=2e-4)
        if trial.settings["l2"] < 1.0:
            assert len(trial.objective) < len(alone.history_)
