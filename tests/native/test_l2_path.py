"""Training along a path of L2 penalties: the optimum of each is the one that it has from zero."""

from __future__ import annotations

import numpy as np

from spanloom import read
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import Settings, along_l2, compress, maximise_likelihood
from spanloom.models import Chain, Shapes
from spanloom.training import gold_cells, hold


def test_every_optimum_on_the_path_is_that_of_its_penalty():
    """The largest penalty comes first, and each value ends where training from zero ends."""
    sentences = [s for doc in read("sample:train") for s in doc.sentences][:60]
    model = Chain("IOBES")
    held = hold(model, sentences, "longest").mentions
    shapes = Shapes([len(s) for s in sentences])
    model.learn(list(zip(held, shapes.lengths, strict=True)))
    (component,) = model.components
    extractor = FeatureExtractor(FeatureSet(["bias", "word[-1..1]"]))
    rows = extractor.fit(sentences, 1)
    gold = gold_cells(component, held, shapes)
    tight = Settings(max_iterations=1000, tolerance=1e-12, threads=1)
    path = list(along_l2(compress(rows, tight), component.structure, gold, tight, [0.1, 1.0, 0.5]))
    assert [l2 for l2, _ in path] == [1.0, 0.5, 0.1]
    for l2, found in path:
        settings = Settings(l2=l2, max_iterations=1000, tolerance=1e-12, threads=1)
        *_, (_, weights) = maximise_likelihood(compress(rows, settings), component.structure, gold, settings)
        alone = weights()
        np.testing.assert_allclose(found.features, alone.features, atol=2e-3)
        np.testing.assert_allclose(found.globals, alone.globals, atol=2e-3)
        assert np.abs(alone.features).max() > 0.1
