"""A second opinion on discontinuous candidates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from spanloom import Mention, Sentence, _native
from spanloom.decisions.rescoring import (
    CONTEXT,
    LOWEST,
    NUMBERS,
    TEXT,
    Rescoring,
    Surface,
    _best_least,
    _outline,
    _products,
    _regress,
    _surface,
    describe,
)
from spanloom.learning.online import native_restrictions
from spanloom.schemes.subsets import decode_subset

APART = Mention("cell", ((0, 1), (4, 5)))
PLAIN = Sentence(["A", "b", "c", "D", "e", "f", "g"])


def numbers(*others: tuple[float, Mention], text: Sentence = PLAIN) -> dict[str, float]:
    """What is seen of the discontinuous mention beside others."""
    places, table = describe([(0.5, APART), *others], text)
    return dict(zip(NUMBERS, table[places.index(0)].tolist(), strict=True))


def test_what_is_seen_of_a_discontinuous_mention_alone() -> None:
    seen = numbers((2.0, Mention("cell", ((6, 7),))), (2.0, Mention("gene", ((2, 5),))))
    low = dict.fromkeys(("sibling", "contiguous", "weaker", "rival", "whole", "alone"), LOWEST)
    expected = {"score": 0.5, **low, "siblings": 0.0, "uncovered": math.log1p(3)}
    assert {name: seen[name] for name in CONTEXT} == expected
    assert {name: value for name in TEXT if (value := seen[name])} == {"two": 1.0, "gap": math.log1p(3)}


def test_what_is_seen_of_the_others() -> None:
    """ "A , and B C": the sibling B C covers one of three skipped tokens, A and C alone are of any label."""
    sibling, rival = Mention("cell", ((3, 5),)), Mention("cell", ((0, 4),))
    whole, apart = Mention("cell", ((0, 5),)), Mention("cell", ((1, 2), (4, 5)))
    part, other_label = Mention("gene", ((0, 1),)), Mention("gene", ((0, 5),))
    seen = numbers((1.0, sibling), (-0.5, whole), (-2.0, part), (3.0, other_label), (1.5, apart), (4.0, rival))
    assert (seen["sibling"], seen["contiguous"], seen["weaker"]) == (4.0, 4.0, 0.5), "A , and B has tokens of the gap"
    seen = numbers((1.0, sibling), (-0.5, whole), (-2.0, part), (3.0, other_label), (1.5, apart))
    assert (seen["sibling"], seen["contiguous"], seen["weaker"]) == (1.5, 1.0, 0.5)
    assert (seen["rival"], seen["whole"], seen["alone"]) == (-0.5, -0.5, -2.0)
    assert seen["siblings"] == pytest.approx(math.log1p(2))
    assert seen["uncovered"] == pytest.approx(math.log1p(1))
    assert numbers((-1.5, sibling))["siblings"] == 0, "a sibling below -1 is not counted"


@pytest.mark.parametrize(
    ("text", "pos", "expected"),
    [
        pytest.param(
            "T , and B cells grow",
            "NN , CC NN NNS VBP",
            {"coordinator", "comma", "at once", "and", "equal", "same shape", "same pos", "parallel", "plural"},
            id="parallel",
        ),
        pytest.param(
            "naive or long term cells",
            None,
            {"coordinator", "at once", "or", "longer", "same shape", "plural"},
            id="longer",
        ),
        pytest.param("alpha x / y globin", None, {"slash", "last slash", "equal", "same shape"}, id="slash"),
        pytest.param("T in B und cells", "NN IN NN CC NNS", {"coordinator", "bare", "plural"}, id="tag"),
        pytest.param("p50 , p65 , subunit", None, {"comma", "at once", "bare", "last comma"}, id="bare"),
    ],
)
def test_what_is_seen_of_the_words_around_its_gap(text: str, pos: str | None, expected: set[str]) -> None:
    sentence = Sentence(text.split(), columns={} if pos is None else {"pos": pos.split()})
    seen = numbers(text=sentence)
    assert {name for name in TEXT if seen[name]} == expected | {"two", "gap"}


def rescoring(bias: float, least: float, thresholds: dict[str, float]) -> Rescoring:
    n = len(NUMBERS)
    return Rescoring((0.0,) * n, (1.0,) * n, (0.0,) * _products(np.zeros((1, n))).shape[1], bias, least, thresholds)


def rescored(
    second: Rescoring,
    candidates: list[tuple[float, Mention]],
    above: tuple[float, ...] = (),
    restrictions: tuple[str, ...] = (),
) -> list[tuple[float, Mention]]:
    """What becomes of candidates of the label "cell"; the best come first."""
    surface, types = Surface.of([PLAIN]), ["cell"]
    subsets = [(score, types.index(m.label), list(m.tokens)) for score, m in candidates]
    found = second.native(types).rescore(
        subsets, *surface.arrays, native_restrictions(restrictions), np.array(above, float), tagged=False
    )
    return [(score, decode_subset(types[t], tokens)) for score, t, tokens, _ in found]


def test_contiguous_candidates_keep_their_scores() -> None:
    second = rescoring(5.0, 1.0, {"cell": 0.25})
    whole = Mention("cell", ((3, 5),))
    assert rescored(second, [(9.0, whole), (-2.0, APART)]) == [(9.0, whole), (4.25, APART)]
    assert rescored(second, [(9.0, whole), (-2.0, APART)], above=(4.25,)) == [(9.0, whole)], "above is not at"
    assert rescored(second, []) == []


def test_what_a_better_candidate_forbids_is_left_out() -> None:
    second = rescoring(5.0, 1.0, {"cell": 0.25})
    whole, beside, inner = Mention("cell", ((3, 6),)), Mention("cell", ((5, 7),)), Mention("cell", ((3, 4),))
    candidates = [(9.0, whole), (8.0, beside), (7.0, inner), (-2.0, APART)]
    for name, left in (
        ("no_overlap", [whole]),
        ("no_embedding", [whole, beside, APART]),
        ("no_self_embedding", [whole, beside, APART]),
        ("contiguous", [whole, beside, inner, APART]),
    ):
        assert [m for _, m in rescored(second, candidates, restrictions=(name,))] == left


def test_log_odds_are_those_of_the_numbers() -> None:
    """The weights on the numbers and on the products of every two, far numbers cut; in numpy and natively."""
    random, n = np.random.default_rng(3), len(NUMBERS)
    weights = random.normal(size=_products(np.zeros((1, n))).shape[1])
    second = Rescoring(tuple(random.normal(size=n)), tuple(random.uniform(0.05, 2, n)), tuple(weights), 0.5, 0.0, {})
    candidates = [(1.0, Mention("cell", ((3, 5),))), (0.5, APART), (-1.0, Mention("cell", ((0, 2), (4, 5))))]
    _, table = describe(candidates, PLAIN)
    found = [score for score, m in rescored(second, candidates) if m.discontinuous]
    assert found == pytest.approx(sorted(second.odds(table), reverse=True))


def test_the_borders_of_rescoring_are_checked() -> None:
    surface = Surface.of([PLAIN])
    with pytest.raises(ValueError, match="2 weights for 29 numbers"):
        _native.Rescoring(np.zeros(29), np.ones(29), np.zeros(2), 0.0, 0.0, np.zeros(1))
    for tokens in ([], [2, 1], [0, 7], [1, 1]):
        with pytest.raises(ValueError, match="do not ascend within 7"):
            _native.describe_candidates([(0.0, 0, tokens)], *surface.arrays, tagged=False)
    with pytest.raises(ValueError, match="surface of 6 tokens instead of 7"):
        _native.describe_candidates([], surface.arrays[0][:6], *surface.arrays[1:], tagged=False)
    native = rescoring(5.0, 1.0, {}).native(["cell"])
    with pytest.raises(ValueError, match="type 1 of 1"):
        native.rescore([(0.0, 1, [0])], *surface.arrays, native_restrictions(()), np.zeros(0), tagged=False)
    with pytest.raises(ValueError, match="2 scores to be above for 1 types"):
        native.rescore([], *surface.arrays, native_restrictions(()), np.zeros(2), tagged=False)


def test_products_of_every_two() -> None:
    assert _products(np.array([[2.0, 3.0]])).tolist() == [[2.0, 3.0, 4.0, 6.0, 9.0]]


def test_the_regression_is_at_its_optimum() -> None:
    """The gradient of Σ log(1 + exp(−y z·w)) + λ/2 ‖w‖² is 0, by finite differences on standardised numbers."""
    random = np.random.default_rng(1)
    x = random.normal(size=(60, 3)) * [1, 5, 0.1] + [0, 3, 1]
    y = random.random(60) < 1 / (1 + np.exp(-x[:, 0]))
    weights, bias = _regress(x, y, 0.7)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    sign = np.where(y, 1.0, -1.0)

    def loss(w: np.ndarray) -> float:
        return float(np.logaddexp(0, -sign * (z @ w[:-1] + w[-1])).sum() + 0.7 / 2 * w[:-1] @ w[:-1])

    at = np.append(weights * x.std(axis=0), bias + weights @ x.mean(axis=0))
    assert approx_fprime(at, loss) == pytest.approx(np.zeros(4), abs=1e-3)


def test_rescoring_is_learned() -> None:
    """Discontinuous candidates with a good sibling are right, those without are wrong, whatever their own score."""
    sibling = Mention("cell", ((3, 5),))
    good = [[(2.0, sibling), (score, APART)] for score in (-1.0, -0.5, 0.5)]
    bad = [[(score, APART)] for score in (-1.0, -0.5, 0.5)]
    scored, gold = [*good, *bad, *good, *bad], ([[sibling, APART]] * 3 + [[]] * 3) * 2
    second = Rescoring.learn(scored, [PLAIN] * 12, gold)
    assert second is not None
    taken = [[m for score, m in rescored(second, some) if score > 0] for some in scored]
    assert [sorted(some) for some in taken] == [sorted(some) for some in gold]
    assert Rescoring.from_json(second.to_json()) == second
    assert Rescoring.learn(bad, [PLAIN] * 3, [[]] * 3) is None


@pytest.mark.parametrize(
    ("word", "outline"), [("IL-2a", "A-0a"), ("genes", "a"), ("B", "A"), ("42", "0"), ("p53/Rb", "a0/Aa"), ("", "")]
)
def test_outlines_by_hand(word, outline):
    assert _outline(word) == outline


def test_bits_of_words_are_apart():
    """Every word has its own, and words that end in s one beside them."""
    bits = {word: _surface(word)[3] for word in ("gene", "genes", ",", "/", "and", "or")}
    assert bits["gene"] == 0
    assert bits["genes"].bit_count() == 1
    own = [bits[word] for word in (",", "/", "and", "or")]
    assert all(bits["genes"] & one == 0 for one in own)
    assert len(set(own)) == 4


@pytest.mark.parametrize("absent", [3, 9])
def test_the_least_odds_are_those_of_the_best_f1(absent):
    """Tried one after the other, with some mentions that are not among the candidates."""
    random = np.random.default_rng(4)
    odds, right = random.normal(size=12), random.random(12) < 0.4
    total = absent + int(right.sum())

    def f1(least):
        return 2 * ((odds > least) & right).sum() / ((odds > least).sum() + total)

    assert f1(_best_least(odds, right, total)) == max(f1(least) for least in [*(odds - 1e-9), 10.0])
