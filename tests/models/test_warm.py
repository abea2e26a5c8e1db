"""Warm starts: weights go over by name, and the optimum is that of a start from zero."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from spanloom import Mention, Recognizer, Sentence, read
from spanloom.base.errors import ParameterError
from spanloom.configuration import configure
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import LBFGS

TEMPLATES = ["bias", "word[-1..1]", "suffix(word,2..3)", "shape(word)", "word[-1] & word[0]", "bag(word, -2..2)"]


def sample(part: str = "train") -> list[Sentence]:
    return [s for document in read(f"sample:{part}") for s in document.sentences]


def made(**settings: Any) -> Recognizer:
    options = {"features": TEMPLATES, "keep": "longest", "threads": 1, "l2": 1.0, "tol": 1e-6, "max_iter": 2000}
    return configure({**options, **settings})


def objective(ner: Recognizer) -> float:
    return float(ner.training_["objective"])


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "edge"},
        {"model": "state", "share": 0.5},
        {"model": "chain"},
        {"model": "chain", "scheme": "BIES+"},
        {"model": "chain", "support": "observed"},
        {"model": "memm"},
        {"model": "semimarkov"},
        {"model": "layered"},
    ],
    ids=lambda settings: "-".join(map(str, settings.values())),
)
def test_the_optimum_is_that_of_a_start_from_zero(settings: dict[str, Any]) -> None:
    """More sentences, from the model of fewer: the same objective in fewer evaluations."""
    sentences = sample()[:40]
    old = made(**settings).fit(sentences[:36])
    cold = made(**settings).fit(sentences)
    warm = made(**settings).fit(sentences, start=old)
    assert objective(warm) == pytest.approx(objective(cold), rel=1e-5)
    assert sum(r.evaluations for r in warm.history_) < sum(r.evaluations for r in cold.history_)
    assert 0.5 < warm.training_["start"] < 1


@pytest.mark.parametrize("settings", [{"model": "edge"}, {"model": "chain", "scheme": "BIES+"}, {"model": "memm"}])
def test_from_its_own_weights_a_model_has_nothing_left_to_learn(settings: dict[str, Any], tmp_path: Any) -> None:
    """The first iteration from a stored model is at its optimum, but for weights in single precision."""
    sentences = sample()[:40]
    old = made(**settings).fit(sentences)
    old.save(tmp_path / "old.loom")
    again = made(**settings, max_iter=1).fit(sentences, start=tmp_path / "old.loom")
    assert objective(again) == pytest.approx(objective(old), rel=1e-5)
    assert again.training_["start"] == 1


def test_weights_of_labels_that_stay_are_carried_over() -> None:
    """With a new label, other columns begin with their weights; it begins at zero."""
    words = ["lacZ", "p53", "sonic", "ras"]
    genes = [Sentence(["the", w, "gene"], [Mention("DNA", ((1, 3),))]) for w in words]
    cells = [Sentence(["a", w, "cell"], [Mention("cell", ((1, 3),))]) for w in ("T", "B")]
    settings: dict[str, Any] = {"model": "chain", "features": ["word[-1..1]"], "l2": 0.01}
    old = made(**settings).fit(genes)
    start = made(**settings, max_iter=1).fit(genes + cells, start=old)
    zero = made(**settings, max_iter=1).fit(genes + cells)
    assert objective(start) < 0.8 * objective(zero)


def test_features_are_matched_by_name() -> None:
    """Against names in words, over other sentences and other templates."""
    sentences = sample()
    one = FeatureExtractor(FeatureSet(TEMPLATES))
    two = FeatureExtractor(FeatureSet(["shape(word)", *TEMPLATES[:3], "word[-1] & word[0]", "bag(word, -2..2)"]))
    one.fit(sentences[:60])
    two.fit(sentences[30:90])
    numbers = {name: i for i, name in enumerate(two.names())}
    expected = [numbers.get(name, -1) for name in one.names()]
    assert one.numbers_in(two).tolist() == expected
    assert max(expected) > 0 > min(expected)


def test_features_of_other_sites_are_others() -> None:
    one, two = FeatureExtractor(FeatureSet(["word"])), FeatureExtractor(FeatureSet(["word"]), "gaps")
    for extractor in (one, two):
        extractor.fit(sample()[:3])
    assert (one.numbers_in(two) == -1).all()


def test_a_path_of_penalties_falls_and_ends_where_single_trainings_end() -> None:
    """The larger the penalty, the smaller the weights; each value has the objective of its own training."""
    from spanloom.learning import LearningProblem
    from spanloom.models import Edge, Shapes
    from spanloom.models.supervised import supervise

    sentences = sample()[:40]
    model, shapes = Edge(), Shapes([len(s) for s in sentences])
    gold = [s.mentions for s in sentences]
    component = model.components(gold, shapes.lengths)[0]
    rows = FeatureExtractor(FeatureSet(TEMPLATES), model.sites).fit(sentences)
    problem = LearningProblem(rows, component.structure, supervise(component, sentences, gold, shapes))
    trainer = LBFGS(tol=1e-8, max_iter=2000)
    path = {l2: np.linalg.norm(w.features) for l2, w in trainer.along_l2(problem, [0.3, 3.0, 1.0])}
    assert list(path) == [3.0, 1.0, 0.3]
    assert all(a < b for a, b in pairwise(path.values()))
    for l2, norm in path.items():
        *_, (_, weights) = LBFGS(tol=1e-8, max_iter=2000, l2=l2).steps(problem)
        assert np.linalg.norm(weights().features) == pytest.approx(norm, rel=1e-3)


@pytest.mark.parametrize("model", ["edge", "chain"])
def test_two_optima_lead_to_the_third(model: str) -> None:
    """From where they lead to, training begins nearer to the optimum than from the last of them."""
    sentences = sample()[:40]
    first, second, third = (made(model=model, l2=l2).fit(sentences) for l2 in (4.0, 2.0, 1.0))
    ahead = second.trained_.ahead(first.trained_, 1.0)
    near, nearer = (made(model=model, l2=1.0, max_iter=1).fit(sentences, start=one) for one in (second, ahead))
    assert 0 <= objective(nearer) - objective(third) < 0.5 * (objective(near) - objective(third))


def test_nothing_is_ahead_of_models_without_components() -> None:
    two = [made(model="layered", l2=l2).fit(sample()[:20]).trained_ for l2 in (2.0, 1.0)]
    assert two[1].ahead(two[0], 1.0) is two[1]


def test_trainers_without_an_optimum_take_no_start() -> None:
    sentences = sample()[:10]
    old = made(model="edge", max_iter=1).fit(sentences)
    with pytest.raises(ParameterError, match="starts from nothing"):
        Recognizer("edge", trainer="perceptron", keep="longest").fit(sentences, start=old)
    with pytest.raises(ParameterError, match="start is a recogniser"):
        Recognizer("edge", keep="longest").fit(sentences, start=3)  # type: ignore[arg-type]


def test_a_model_of_another_kind_is_not_said_to_have_known_features() -> None:
    train = sample()[:40]
    start = made(model="edge", max_iter=2).fit(train)
    assert made(model="edge", max_iter=2).fit(train, start=start).training_["start"] == 1.0
    assert made(model="chain", max_iter=2).fit(train, start=start).training_["start"] == 0.0
    mixed = made(model="mixture", models="edge+chain", max_iter=2).fit(train)
    assert made(model="edge", max_iter=2).fit(train, start=mixed).training_["start"] == 0.0
