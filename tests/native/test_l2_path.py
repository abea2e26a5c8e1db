"""Training along a path of L2 penalties: the optimum of each is the one that it has from zero."""

from __future__ import annotations

import numpy as np

from spanloom import read
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import LBFGS, LearningProblem
from spanloom.models import Chain, Shapes
from spanloom.models.holding import hold
from spanloom.models.supervised import supervise


def test_every_optimum_on_the_path_is_that_of_its_penalty():
    """The largest penalty comes first, and each value ends where training from zero ends."""
    sentences = [s for doc in read("sample:train") for s in doc.sentences][:60]
    model = Chain("IOBES")
    held = hold(model, sentences, "longest").mentions
    shapes = Shapes([len(s) for s in sentences])
    (component,) = model.components(held, shapes.lengths)
    extractor = FeatureExtractor(FeatureSet(["bias", "word[-1..1]"]))
    rows = extractor.fit(sentences, 1)
    problem = LearningProblem(rows, component.structure, supervise(component, sentences, held, shapes))
    tight = LBFGS(max_iter=1000, tol=1e-12)
    path = list(tight.along_l2(problem, [0.1, 1.0, 0.5], threads=1))
    assert [l2 for l2, _ in path] == [1.0, 0.5, 0.1]
    for l2, found in path:
        *_, (_, weights) = tight.with_params(l2=l2).steps(problem, threads=1)
        alone = weights()
        np.testing.assert_allclose(found.features, alone.features, atol=2e-3)
        np.testing.assert_allclose(found.globals, alone.globals, atol=2e-3)
        assert np.abs(alone.features).max() > 0.1
