"""Several representations in one chain: what is learned, and that nothing of it is left in the trained model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from spanloom import Recognizer, read
from spanloom._native import CompressedRows, Lbfgs, Likelihood, Tying
from spanloom.base.errors import ParameterError
from spanloom.base.model_file import load_arrays
from spanloom.corpus import Mention, Sentence
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import LBFGS, Auto, Perceptron
from spanloom.learning.tying import shortest
from spanloom.models import Chain, Shapes
from spanloom.models.structured import Structured
from spanloom.models.supervised import supervise
from spanloom.schemes import flatten

FEATURES = ["bias", "lower(word)[-1..1]", "collapsed(word)", "suffix(word, 3)"]


@pytest.fixture(scope="module")
def train() -> list[Sentence]:
    sentences = [s for doc in read("sample:train") for s in doc.sentences][:60]
    return [s.with_mentions(flatten(s.mentions, "longest")[0]) for s in sentences]


@pytest.fixture(scope="module")
def dev() -> list[Sentence]:
    return [s for doc in read("sample:dev") for s in doc.sentences]


def fit(scheme: str | list[str], train: list[Sentence]) -> Recognizer:
    return Recognizer(Chain(scheme=scheme), features=FEATURES, trainer=LBFGS(l2=0.2, max_iter=15)).fit(train)


def test_collapsed_weights_are_the_sums_to_the_bit(train: list[Sentence]) -> None:
    """The score weight of a label is the sum, over representations, of the parameter of its image there."""
    model = Chain("BIES+")
    mentions, lengths = [s.mentions for s in train], [len(s) for s in train]
    (component,) = model.components(mentions, lengths)
    sites, pairs = component.tying()
    assert sites is not None
    assert pairs is not None
    rows = FeatureExtractor(FeatureSet(FEATURES)).fit(train)
    gold = supervise(component, train, mentions, Shapes(lengths))
    objective = Likelihood(rows, component.structure, gold, Tying(*sites), Tying(*pairs), merge=False)
    optimiser = Lbfgs(objective, np.zeros(objective.size), l2=0.2)
    for _ in range(5):
        optimiser.iterate()
    x = optimiser.x()
    labels = component.columns
    state = x[: rows.width * sites.width].reshape(rows.width, sites.width)
    groups = sites.params.reshape(
        len(labels), 7
    )  # the parameters of a label: one for each of the seven representations
    expected = np.zeros((rows.width, len(labels)))
    for representation in range(7):
        expected += state[:, groups[:, representation]]
    assert np.abs(expected).max() > 0.01
    assert objective.weights(x).tobytes() == expected.astype(np.float32).tobytes()
    moves = x[rows.width * sites.width :]
    summed = np.zeros(len(labels) ** 2)
    for representation in range(7):
        summed += moves[pairs.params.reshape(-1, 7)[:, representation]]
    assert objective.global_weights(x).tobytes() == summed.tobytes()


@pytest.mark.slow
def test_as_many_parameters_as_labels_are_enough(train: list[Sentence]) -> None:
    """The first steps, the optimum and its score weights are those of all the representations' parameters."""
    model = Chain("BIES+")
    mentions, lengths = [s.mentions for s in train], [len(s) for s in train]
    (component,) = model.components(mentions, lengths)
    sites, pairs = component.tying()
    assert sites is not None
    assert pairs is not None
    rows = CompressedRows(FeatureExtractor(FeatureSet(FEATURES)).fit(train), bundles=False)
    gold = supervise(component, train, mentions, Shapes(lengths))
    every = Likelihood(rows, component.structure, gold, Tying(*sites), Tying(*pairs))
    few = Likelihood(rows, component.structure, gold, Tying(*shortest(sites)), Tying(*pairs))
    assert few.size < every.size / 3
    steps = [Lbfgs(objective, np.zeros(objective.size), l2=0.2) for objective in (every, few)]
    for number in range(300):
        a, b = (optimiser.iterate() for optimiser in steps)
        if number < 4:  # later on, rounding drives the two paths apart
            assert a.value == pytest.approx(b.value, rel=1e-7)
            assert a.gradient_norm == pytest.approx(b.gradient_norm, rel=1e-4)
            assert a.x_norm == pytest.approx(b.x_norm, rel=1e-6)
    assert a.value == pytest.approx(b.value, rel=1e-7)
    np.testing.assert_allclose(every.weights(steps[0].x()), few.weights(steps[1].x()), atol=1e-4)


def test_a_list_of_one_is_the_representation_itself(train: list[Sentence], tmp_path: Path) -> None:
    one, listed = fit("BIES", train), fit(["BIES"], train)
    assert one.trained_.weights[0].features.tobytes() == listed.trained_.weights[0].features.tobytes()
    assert one.trained_.weights[0].globals.tobytes() == listed.trained_.weights[0].globals.tobytes()


def test_a_trained_model_is_one_of_its_main_representation(
    train: list[Sentence], dev: list[Sentence], tmp_path: Path
) -> None:
    """The same arrays, sizes and header as a plain BIES model; read as one, it gives the same output to the bit."""
    plain, many = fit("BIES", train), fit("BIES+", train)
    plain.save(tmp_path / "plain.loom")
    many.save(tmp_path / "many.loom")
    arrays, header = load_arrays(tmp_path / "plain.loom")
    other_arrays, other_header = load_arrays(tmp_path / "many.loom")
    assert {k: (v.shape, v.dtype) for k, v in arrays.items()} == {
        k: (v.shape, v.dtype) for k, v in other_arrays.items()
    }
    assert header["model"] == other_header["model"]
    assert header["model"]["scheme"] == "BIES"
    assert other_header["settings"]["model"]["scheme"] == "BIES+"
    sizes = [
        (tmp_path / f"{name}.loom").stat().st_size - len(json.dumps(h))
        for name, h in (("plain", header), ("many", other_header))
    ]
    assert abs(sizes[0] - sizes[1]) <= 64  # alignment
    loaded = Recognizer.load(tmp_path / "many.loom")
    assert loaded.model == Chain(scheme="BIES+")
    # A plain model with these weights.
    other = Structured(*Chain.from_header(header["model"]), many.extractor_, many.trained_.weights)
    for model in (loaded.trained_, other):
        assert model.find(dev) == many.trained_.find(dev)
        scores = [one.decoder.scores(one.reader.transform(dev), 1).tobytes() for one in (model, many.trained_)]
        assert scores[0] == scores[1]


def test_a_coarse_representation_helps_where_the_fine_one_saw_nothing() -> None:
    """``mouse`` was seen as the beginning of a mention only; IO tells BIES that it is inside, whatever the place."""
    gene = [Mention("g", ((1, 3),))]
    train = [Sentence(["the", "mouse", "gene", "is", "here"], gene)] * 5
    train += [Sentence(["the", "cat", "is", "here"])] * 5
    both = Recognizer(Chain(scheme=["BIES", "IO"]), features=["word"], trainer=LBFGS(l2=0.5)).fit(train)
    alone = Recognizer(Chain(scheme="BIES"), features=["word"], trainer=LBFGS(l2=0.5)).fit(train)

    def weight(ner: Recognizer, label: str) -> float:
        row = ner.extractor_.names().index("word[0]=mouse")
        return float(ner.trained_.weights[0].features[row, ner.trained_.components[0].columns.index(label)])

    assert weight(both, "E-g") > weight(alone, "E-g")
    assert weight(both, "I-O") < 0


def test_every_thread_count_gives_the_same_model(train: list[Sentence]) -> None:
    results = []
    for threads in (1, 2):
        ner = Recognizer(Chain(scheme="IOBES+"), features=FEATURES, trainer=Auto(max_iter=5), threads=threads).fit(
            train
        )
        results.append(ner.trained_.weights[0].features.tobytes())
    assert results[0] == results[1]


def test_the_perceptron_takes_one_representation(train: list[Sentence]) -> None:
    with pytest.raises(ParameterError, match="sums scores from shared weights"):
        Recognizer(Chain(scheme="BIES+"), features=FEATURES, trainer=Perceptron(max_iter=1)).fit(train)
