"""Sources of scores written in Python, trained through a structured loss: gradients, and the fused one beside them."""

from __future__ import annotations

import numpy as np
import pytest

from spanloom import Mention, Sentence
from spanloom._native import Lbfgs, Likelihood, StructuredLoss
from spanloom.corpus.known import Known
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning.source import Features, Source, SourceLoss, Sum, Vectors
from spanloom.models import Chain, Shapes
from spanloom.models.supervised import supervise

TRAIN = [
    Sentence(["the", "lacZ", "gene", "works"], [Mention("DNA", ((1, 3),))]),
    Sentence(["p53", "binds"], [Mention("protein", ((0, 1),))]),
    Sentence(["a", "p53", "gene"], [Mention("DNA", ((1, 3),))], known=Known(ranges=[(0, 2)])),
]
PTR = np.cumsum([0, *map(len, TRAIN)])
SITES = int(PTR[-1])


def problem():
    gold, shapes = [s.mentions for s in TRAIN], Shapes([len(s) for s in TRAIN])
    (component,) = Chain("IOB2").components(gold, shapes.lengths)
    return component.structure, supervise(component, TRAIN, gold, shapes)


def sources(columns: int) -> dict[str, Source]:
    rows = FeatureExtractor(FeatureSet(["word[-1..1]", "suffix(word, 1..2)"])).fit(TRAIN, threads=1)
    dense, sparse = Vectors(np.random.default_rng(1).normal(size=(SITES, 3)), columns), Features(rows, columns)
    return {"vectors": dense, "features": sparse, "sum": Sum([sparse, dense])}


@pytest.mark.parametrize("name", ["vectors", "features", "sum"])
def test_the_gradient_is_that_of_finite_differences(name):
    """Also where annotation is partial."""
    structure, supervision = problem()
    objective = SourceLoss(
        sources(structure.columns)[name], StructuredLoss(structure, supervision), PTR, structure.global_cells
    )
    random = np.random.default_rng(2)
    x = random.normal(size=objective.size) * 0.3
    _, gradient = objective.evaluate(x)
    for _ in range(5):
        way = random.normal(size=objective.size)
        step = 1e-5 * way
        slope = (objective.evaluate(x + step)[0] - objective.evaluate(x - step)[0]) / 2e-5
        assert gradient @ way == pytest.approx(slope, rel=1e-6, abs=1e-7)


def test_features_apart_are_the_fused_likelihood():
    """Value and gradient of features and loss in two pieces are those of the native core's one."""
    structure, supervision = problem()
    rows = FeatureExtractor(FeatureSet(["word[-1..1]", "suffix(word, 1..2)"])).fit(TRAIN, threads=1)
    apart = SourceLoss(
        Features(rows, structure.columns), StructuredLoss(structure, supervision), PTR, structure.global_cells
    )
    fused = Likelihood(rows, structure, supervision, merge=False)
    assert fused.size == apart.size
    x = np.random.default_rng(3).normal(size=apart.size) * 0.3
    value, gradient = apart.evaluate(x)
    expected, slope = fused.evaluate(x)
    assert value == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(
        gradient, slope, rtol=1e-4, atol=1e-5
    )  # the fused one stores weights in single precision


def test_a_dense_source_learns():
    """Vectors that tell words apart are enough to find the mentions of the training sentences."""
    structure, supervision = problem()
    source = Vectors(np.eye(SITES), structure.columns)
    objective = SourceLoss(source, StructuredLoss(structure, supervision), PTR, structure.global_cells)
    optimiser = Lbfgs(objective, np.zeros(objective.size), l2=0.001)
    for _ in range(30):
        optimiser.iterate()
    assert objective.evaluate(optimiser.x())[0] < 0.1 * objective.evaluate(np.zeros(objective.size))[0]
