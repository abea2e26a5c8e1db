"""The mention penalty: more mentions above 0, fewer below; chosen on development data; kept in the model."""

from __future__ import annotations

import pytest

from spanloom import Mention, Recognizer, Sentence
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.configuration import configure
from spanloom.decisions import Best
from spanloom.decisions.penalty import GRID, by_label, check_penalty, choose_each, choose_one
from spanloom.evaluation import micro
from spanloom.evaluation.calibration import Curve
from spanloom.evaluation.score import Score
from spanloom.formats import read
from spanloom.learning import LBFGS, Auto
from spanloom.models import Chain, Chains


@pytest.fixture(scope="module")
def corpus() -> tuple[list[Sentence], list[Sentence]]:
    parts = ([s for doc in read(f"sample:{split}") for s in doc.sentences] for split in ("train", "dev"))
    train, dev = ([s.with_mentions([m for m in s.mentions if not m.discontinuous]) for s in part] for part in parts)
    return train, dev


def scored(counts: list[tuple[int, int]], gold: int) -> list[Score]:
    return [Score(gold, predicted, right, right) for predicted, right in counts]


@pytest.mark.parametrize("model", ["edge", "state", "hypergraph", "chains", "chain"])
def test_a_higher_penalty_finds_more_mentions(corpus, model):
    """The number of mentions never falls as the penalty rises, and differs between its ends."""
    train, dev = corpus
    ner = Recognizer(
        model, features="crfsuite-like", trainer=LBFGS(l2=1.0, max_iter=20), keep="longest", threads=1
    ).fit(train)
    counts = [
        sum(len(s.mentions) for s in ner.set_mention_penalty(value).predict(dev))
        for value in (-6.0, -1.0, 0.0, 1.0, 6.0)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_auto_chooses_the_best_of_the_sweep_and_keeps_it(corpus, tmp_path):
    """The chosen value is the best on the development data, is stored, and the curve holds what predict gives."""
    train, dev = corpus
    trainer, decide = LBFGS(l2=1.0, max_iter=20), Best(penalty="auto", exclusive=False)
    ner = Recognizer("edge", features="crfsuite-like", trainer=trainer, decide=decide, threads=1)
    ner.fit(train, dev=dev)
    curve = ner.penalty_curve_
    assert curve is not None
    assert curve.values == list(GRID)
    gold = [s.mentions for s in dev]
    found = micro(gold, [s.mentions for s in ner.predict(dev)])
    assert found.f1 == pytest.approx(max(score.f1 for score in curve.scores))
    assert curve.chosen == curve.best
    assert set(ner.mention_penalty_.values()) <= {curve.best}
    untuned = micro(gold, [s.mentions for s in ner.set_mention_penalty(0).predict(dev)])
    assert untuned == curve.at(0.0)
    ner.set_mention_penalty(curve.best).save(tmp_path / "m.loom")
    loaded = Recognizer.load(tmp_path / "m.loom", threads=1)
    assert loaded.mention_penalty_ == ner.mention_penalty_
    assert loaded.penalty_curve_ == curve
    assert [s.mentions for s in loaded.predict(dev)] == [s.mentions for s in ner.predict(dev)]


def test_one_label_may_be_penalised_alone(corpus):
    """A penalty on one label leaves the others as they were."""
    train, dev = corpus
    ner = Recognizer("edge", features="crfsuite-like", trainer=LBFGS(l2=1.0, max_iter=20), threads=1).fit(train)
    plain = ner.predict(dev)
    label = max(ner.labels_, key=lambda x: sum(m.label == x for s in plain for m in s.mentions))
    changed = ner.set_mention_penalty({label: -50.0}).predict(dev)
    for before, after in zip(plain, changed, strict=True):
        assert [m for m in before.mentions if m.label != label] == after.mentions


def test_choosing_by_hand_made_counts():
    """Label a wants the first value and b the last; together one value must do, apart each gets its own."""
    steps = len(GRID)
    a = scored([(10, 10)] + [(20, 10)] * (steps - 1), 10)
    b = scored([(1, 1)] * (steps - 1) + [(10, 10)], 10)
    curves = {"a": Curve("mention penalty", list(GRID), a), "b": Curve("mention penalty", list(GRID), b)}
    one = choose_one(curves)
    assert one.scores[0] == Score(20, 11, 11, 11)
    assert one.best == GRID[-1]  # 20 of 30 found rightly beats 11 of 11
    assert choose_each(curves) == {"a": GRID[0], "b": GRID[-1]}


def test_what_is_refused(corpus):
    """Unknown labels, unfit values, tuning without development data, labels that cannot be told apart."""
    train, _ = corpus
    with pytest.raises(ParameterError, match="no label 'x'"):
        by_label({"x": 1.0}, ["a"])
    for bad in ("automatic", float("nan"), {"a": True}, None):
        with pytest.raises(ParameterError, match="'penalty' parameter"):
            Recognizer(decide=Best(penalty=bad)).fit(train)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="development data"):
        Recognizer(decide=Best(penalty="auto-by-label")).fit(train)
    for bad in (1e308, {"X": -1e7}):
        with pytest.raises(ParameterError, match="from -1e\\+06 to 1e\\+06"):
            Recognizer().fit(FLAT).set_mention_penalty(bad)


FLAT = [Sentence(["a", "b", "c"], [Mention("X", ((0, 1),)), Mention("Y", ((1, 2),))])]


@pytest.mark.parametrize(
    ("model", "wanted", "message"),
    [("chain", "auto-by-label", "cannot be chosen apart"), ("edge", {"Z": 1.0}, "no label 'Z'")],
)
def test_what_could_not_be_used_is_refused_before_the_training(model, wanted, message):
    """Not a single iteration is lost."""
    heard: list[int] = []
    with pytest.raises(ParameterError, match=message):
        Recognizer(model, decide=Best(penalty=wanted)).fit(FLAT, dev=FLAT, listener=lambda r: heard.append(r.number))
    assert not heard


def test_development_data_that_say_nothing(corpus):
    """None of the labels is an error; the same F1 everywhere leaves the penalty at 0."""
    train, _ = corpus
    ner = Recognizer("edge", features="crfsuite-like", trainer=Auto(max_iter=3)).fit(train)
    for nothing in ([], [Sentence(["a"], [Mention("other", ((0, 1),))])]):
        with pytest.raises(CorpusError, match="have no mention of a label that the model finds"):
            ner.tune_mention_penalty(nothing)
    alike = {"a": Curve("mention penalty", list(GRID), scored([(0, 0)] * len(GRID), 5))}
    assert choose_one(alike).chosen == 0
    assert choose_each(alike) == {}


def test_labels_that_have_learned_nothing_get_no_penalty(corpus):
    """Training was stopped before their turn; a weight on the start of mentions would start one at every word."""
    train, dev = corpus

    def stop(record):
        if record.component == 1:
            raise KeyboardInterrupt

    ner = Recognizer("edge", features="crfsuite-like", trainer=Auto(max_iter=10))
    with pytest.raises(KeyboardInterrupt):
        ner.fit(train, listener=stop)
    untrained = set(ner.training_["untrained"])
    assert len(untrained) == len(ner.labels_) - 2
    found = [m for s in ner.set_mention_penalty(1.0).predict(dev) for m in s.mentions]
    assert found
    assert not untrained & {m.label for m in found}
    curve = ner.tune_mention_penalty(dev)
    known = [[m for m in s.mentions if m.label not in untrained] for s in dev]
    assert curve.at(curve.chosen) == micro(known, [s.mentions for s in ner.predict(dev)])


def test_mentions_that_a_scheme_merges_lower_the_ceiling():
    """IO has no mark for a border: two neighbours of one label come back as one."""
    corpus = [Sentence(["a", "b", "c"], [Mention("X", ((0, 1),)), Mention("X", ((1, 2),)), Mention("Y", ((2, 3),))])]
    for kind in (Chain, Chains):
        for scheme, ceiling in (("IO", 1 / 3), ("IOB2", 1.0)):
            ner = Recognizer(kind(scheme=scheme), trainer=Auto(max_iter=2)).fit(corpus)
            assert ner.ceiling_ == pytest.approx(ceiling)


def test_tune_tries_penalties_on_the_trained_model(corpus):
    """``tune`` scores each penalty as setting it by hand does; ``set_params`` counts at once for this one."""
    from spanloom.tuning import tune

    train, dev = corpus
    settings = {"model": "edge", "features": "crfsuite-like", "max_iter": 10, "threads": 1}
    values = [-1.0, 0.0, 2.0]
    trials = tune(train, dev, grid={"penalty": values}, base=settings, processes=1).trials
    ner = configure(settings).fit(train)
    wanted = {value: ner.set_mention_penalty(value).score(dev).micro.f1 for value in values}
    assert {trial.settings["penalty"]: trial.score.f1 for trial in trials} == pytest.approx(wanted)
    assert len(set(wanted.values())) == 3
    assert ner.set_params(decide__penalty=-1.0).score(dev).f1 == pytest.approx(wanted[-1.0])


@pytest.mark.parametrize("value", [1_000_000.5, -1_000_000.5])
def test_a_penalty_has_a_limit(value):
    with pytest.raises(ParameterError, match=r"to 1e\+06"):
        check_penalty(value)
    check_penalty(1e6)
