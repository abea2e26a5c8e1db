"""Mentions that are found together with their probabilities are those of the distributions, sentence by sentence."""

from __future__ import annotations

import numpy as np
import pytest

from spanloom import Mention, Recognizer, Sentence, read
from spanloom._native import FlatReading, MarkovSearch, markov_mentions, markov_probabilities
from spanloom.learning import Auto
from spanloom.models import Memm, Model, Multilabel, SemiMarkov, Spans, WeakSemiMarkov
from spanloom.models.markov import Markov
from spanloom.models.trained import Trained

MODELS = [
    SemiMarkov(),
    SemiMarkov(longest=3),
    WeakSemiMarkov(),
    Spans(),
    Memm(),
    Memm(order=1),
    Memm(constrained=False),
    Memm(beam=2),
    Multilabel(),
    Multilabel(restrictions=("no_self_embedding",)),
    Multilabel(rescore=True),
]


def trained(model: Model, iterations: int = 8) -> tuple[Trained, list[Sentence]]:
    docs = list(read("sample:train?domain=news"))[:12]
    ner = Recognizer(model, keep="longest", trainer=Auto(max_iter=iterations), threads=1).fit(docs)
    sentences = [s.with_mentions([]) for doc in read("sample:dev") for s in doc.sentences][:60]
    return ner.trained_, [*sentences, Sentence([]), Sentence(["one"])]


def same(found: list[list[Mention]], wanted: list[list[Mention]], abs: float = 1e-9) -> None:
    assert found == wanted
    for own, other in zip(found, wanted, strict=True):
        assert [m.prob for m in own] == pytest.approx([m.prob for m in other], abs=abs)


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("threads", [1, 2])
def test_one_pass_gives_what_distributions_say(model: Model, threads: int) -> None:
    own, sentences = trained(model)
    found = own.find_with_probabilities(sentences, threads)
    assert any(found)
    assert found == own.find(sentences, threads)
    same(found, Trained.find_with_probabilities(own, sentences, threads))
    for above in (0.02, 0.3, 0.9):
        same(own.find_above(sentences, above, threads), Trained.find_above(own, sentences, above, threads))


def test_thresholds_of_their_own_move_even_odds_and_the_order_of_candidates() -> None:
    own, sentences = trained(Multilabel(k=3))
    own.set_threshold({label: 0.5 * i - 1 for i, label in enumerate(sorted(own.labels))})
    found = own.find_with_probabilities(sentences)
    same(found, Trained.find_with_probabilities(own, sentences))
    assert all(m.prob > 0.5 for some in found for m in some)
    same(own.find_above(sentences, 0.2), Trained.find_above(own, sentences, 0.2))


def test_what_scaled_doubles_do_not_hold_goes_another_way() -> None:
    """Weights a thousand times as large: exp(−1000) and less is lost in scaled sums, but not in logarithms."""
    own, sentences = trained(Memm())
    assert isinstance(own, Markov)
    own._set_weights(own.features * np.float32(2000), own.histories * np.float32(2000))
    local = own.believed_scores(sentences)
    bounds = np.concatenate([[0], np.cumsum([len(s) for s in sentences])])
    _, _, _, held = markov_mentions(own._search, own._labels()[1], local.ravel(), bounds, 0.1)
    assert 0 < held.sum() < len(held)
    same(own.find_with_probabilities(sentences), Trained.find_with_probabilities(own, sentences))
    same(own.find_above(sentences, 0.1), Trained.find_above(own, sentences, 0.1))


def _even() -> MarkovSearch:
    """Two labels, one state each, whose choices are even."""
    goes, last = np.array([0, 1] * 3, np.int32), np.arange(2, dtype=np.int32)
    return MarkovSearch(2, np.zeros(6), goes, last, np.ones(2, np.uint8))


def test_by_hand() -> None:
    """Two labels, O and X, one state each, even choices: one token is X with 1/2, two form a mention with 1/4."""
    search = MarkovSearch(
        2, np.zeros(6), np.array([0, 1] * 3, np.int32), np.arange(2, dtype=np.int32), np.ones(2, np.uint8)
    )
    reading = FlatReading(np.array([-1, 0], np.int32), np.array([1, 1, 1, 0], np.uint8))
    ptr, places, probs, held = markov_mentions(search, reading, np.zeros(4), np.array([0, 2]), 0.01)
    assert (ptr.tolist(), held.tolist()) == ([0, 3], [1])
    assert places.tolist() == [0, 1, 0, 0, 2, 0, 1, 2, 0]
    assert probs.tolist() == pytest.approx([0.25, 0.25, 0.25])
    asked = (np.array([[0], [1], [0]], np.int32), np.array([0, 1]))
    (start, end, type_), bounds = asked
    given, _ = markov_probabilities(search, reading, np.zeros(2), np.array([0, 1]), bounds, start, end, type_)
    assert given.tolist() == [0.5]


@pytest.mark.parametrize(
    ("local", "first", "message"),
    [
        (np.zeros(3), [0, 1], "3 scores of 2 labels do not fit"),
        (np.zeros(4), [0, 1], "do not fit the bounds of 1 sentences"),
        (np.zeros(4), [0, 2, 1, 2], "do not fit the bounds of 3 sentences"),
    ],
)
def test_sizes_are_checked(local: np.ndarray, first: list[int], message: str) -> None:
    search = MarkovSearch(
        2, np.zeros(6), np.array([0, 1] * 3, np.int32), np.arange(2, dtype=np.int32), np.ones(2, np.uint8)
    )
    reading = FlatReading(np.array([-1, 0], np.int32), np.ones(4, np.uint8))
    with pytest.raises(ValueError, match=message):
        markov_mentions(search, reading, local, np.array(first), 0.5)
    with pytest.raises(ValueError, match="a reading of 1 columns for 2 labels"):
        markov_mentions(
            search, FlatReading(np.array([0], np.int32), np.ones(1, np.uint8)), np.zeros(2), np.array([0, 1]), 0.5
        )
