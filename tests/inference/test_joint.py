"""Independent parts: sums, products and unions, against all combinations of the parts' sets."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import Believed
from spanloom import Mention
from spanloom.base.errors import ParameterError
from spanloom.inference import Cases, Independent, Joint
from spanloom.inference.cases import QUESTIONS, average
from strategies import cases

A, B, C = (Mention(label, ((0, 1),)) for label in "abc")
SCORES = st.floats(-8, 8)


def independent(mentions: list[Mention], scores: list[float]) -> tuple[Independent, Believed]:
    chosen = itertools.product((False, True), repeat=len(mentions))
    listed = [
        (
            sum(s for s, on in zip(scores, which, strict=True) if on),
            frozenset(itertools.compress(mentions, which)),
        )
        for which in chosen
    ]
    return Independent(mentions, scores), Believed(listed)


def product(parts: list[Believed]) -> Believed:
    combinations = itertools.product(*(part.structures for part in parts))
    return Believed([(sum(s for s, _ in one), frozenset().union(*(own for _, own in one))) for one in combinations])


def check(found: Joint | Cases | Independent, believed: Believed) -> None:
    """Everything that a distribution says, against the list."""
    assert found.log_z == pytest.approx(believed.log_z, rel=1e-9, abs=1e-9)
    assert found.entropy() == pytest.approx(believed.entropy(), abs=1e-8)
    for mention in believed.mentions() | {A, C}:
        assert found.prob(mention) == pytest.approx(believed.prob(mention), abs=1e-9)
    reached = {m for m in believed.mentions() if believed.prob(m) >= 0.4}
    if all(abs(believed.prob(m) - 0.4) > 1e-9 for m in believed.mentions()):
        assert set(found.mentions(0.4)) == reached
    best = sorted(believed.sets.values(), reverse=True)
    assert [p for p, _ in found.k_best(6)] == pytest.approx(best[:6], abs=1e-8)
    for p, own in found.k_best(6):
        assert p == pytest.approx(believed.sets[frozenset(own)], abs=1e-8)
    drawn = [frozenset(own) for own in found.sample(1500, 3)]
    for own, p in believed.sets.items():
        assert abs(drawn.count(own) - 1500 * p) <= 6 * math.sqrt(1500 * p * max(0.0, 1 - p)) + 3


@settings(max_examples=40)
@given(st.lists(SCORES, min_size=3, max_size=3))
def test_decisions_by_themselves(scores: list[float]) -> None:
    found, believed = independent([A, B, C], scores)
    check(found, believed)
    check(found.clamp(must=[A], never=[B]), believed.given([A], [B]))


@settings(max_examples=40)
@given(st.lists(SCORES, min_size=4, max_size=4))
def test_parts_of_different_labels(scores: list[float]) -> None:
    inner = Mention("b", ((1, 2),))
    one, two = independent([A, Mention("a", ((1, 3),))], scores[:2]), independent([B, inner], scores[2:])
    joint, believed = Joint([one[0], two[0]]), product([one[1], two[1]])
    check(joint, believed)
    check(joint.clamp(must=[inner], never=[A]), believed.given([inner], [A]))


@settings(max_examples=40)
@given(st.lists(SCORES, min_size=5, max_size=5))
def test_parts_that_can_find_the_same_mention(scores: list[float]) -> None:
    """Layers: sets that read alike are added up, and what must be there is found by one part, another, or both."""
    parts = [independent([A, B], scores[:2]), independent([A, C], scores[2:4]), independent([A], scores[4:])]
    joint, believed = Joint([d for d, _ in parts]), product([b for _, b in parts])
    check(joint, believed)
    clamped = joint.clamp(must=[A])
    assert isinstance(clamped, Cases)
    check(clamped, believed.given([A]))
    check(clamped.clamp(must=[B], never=[C]), believed.given([A, B], [C]))
    check(joint.clamp(never=[A]), believed.given((), [A]))
    with pytest.raises(ParameterError, match=r"'b' \(\(0, 1\),\) must be there"):
        joint.clamp(never=[B]).clamp(must=[B])


@settings(max_examples=20)
@given(st.data())
def test_two_layers_of_chains(data: st.DataObject) -> None:
    one, two = (data.draw(cases("chain").filter(lambda c: len(c.believed.structures) <= 40)) for _ in range(2))
    assume(one.n == two.n and one.believed.structures and two.believed.structures)
    joint, believed = Joint([one.distribution(), two.distribution()]), product([one.believed, two.believed])
    for mention in believed.mentions():
        assert joint.prob(mention) == pytest.approx(believed.prob(mention), abs=1e-8)
        assert joint.clamp(must=[mention]).log_z == pytest.approx(believed.given([mention]).log_z, rel=1e-8, abs=1e-8)
    best = sorted(believed.sets.values(), reverse=True)[:5]
    assert [p for p, _ in joint.k_best(5)] == pytest.approx(best, abs=1e-8)


def test_marginals_stand_side_by_side() -> None:
    """Of the components of one model, whose sites are the same; others are refused."""
    one, two = Independent([A], [0.0]), Independent([B], [math.log(3)])
    found = Joint([one, two], ["first", "second"]).marginals()
    assert found.names == ("first:a", "second:b")
    assert found.probs.ravel() == pytest.approx([0.5, 0.75])
    with pytest.raises(ParameterError, match="different sites"):
        Joint([one, Independent([Mention("b", ((1, 2),))], [0.0])]).marginals()


@settings(max_examples=40)
@given(st.lists(SCORES, min_size=5, max_size=5), st.floats(0.05, 0.95))
def test_the_mean_of_what_models_believe(scores: list[float], weight: float) -> None:
    """Which model it is counts as part of the structure; given a mention, the models that expected it count more."""
    one, two = independent([A, B], scores[:2]), independent([A, C, B], scores[2:])
    listed = [
        (math.log(w) + score - own.log_z, found)
        for w, own in ((weight, one[1]), (1 - weight, two[1]))
        for score, found in own.structures
    ]
    mean, believed = average([one[0], two[0]], [weight, 1 - weight]), Believed(listed)
    assert mean.log_z == pytest.approx(0, abs=1e-9)
    check(mean, believed)
    check(mean.clamp(must=[A], never=[B]), believed.given([A], [B]))
    with pytest.raises(ParameterError, match="different cells"):
        mean.marginals()


def test_models_without_weight_say_nothing() -> None:
    mean = average([Independent([A], [0.0]), Independent([B], [0.0])], [1.0, 0.0])
    assert mean.prob(B) == 0.0
    assert sorted(own for _, own in mean.k_best(9)) == [[], [A]]
    assert mean.marginals().names == ("a",)


def test_odds_may_be_certain() -> None:
    found = Independent([A, B, C], [math.inf, -math.inf, 0.0])
    assert (found.prob(A), found.prob(B), found.prob(C)) == (1.0, 0.0, 0.5)
    assert [own for _, own in found.k_best(5)] == [[A], [A, C]]
    with pytest.raises(ParameterError, match=r"'a'.* must not be there, but every mention set that is left has it"):
        found.clamp(never=[A])
    with pytest.raises(ParameterError, match="a number"):
        Independent([A], [math.nan])


def test_an_unknown_label_has_the_probability_zero() -> None:
    """And not −0.0, which prints badly."""
    joint = Joint([Independent([A], [0.5]), Independent([B], [0.5])])
    assert str(joint.prob(C)) == "0.0"


def test_best_sets_of_cases_whose_probabilities_underflow():
    """Of 1,300 mentions, each as good as even, every set has less than e to the -800."""
    many = [Mention("X", ((i, i + 1),)) for i in range(1300)]
    case = Independent(many, [0.1] * len(many))
    found = average([case, case], [0.5, 0.5])._best(1)
    assert [(pytest.approx(log), len(mentions)) for log, mentions in found] == [
        (-len(many) * math.log1p(math.exp(-0.1)), len(many))
    ]


def test_best_sets_of_flat_cases_end_soon():
    """Thousands of sets are nearly as good as the best: not each of them is asked about."""
    some = [Mention("X", ((i, i + 1),)) for i in range(12)]
    one, other = Independent(some, [0.1, -0.1] * 6), Independent(some, [-0.1, 0.1] * 6)
    asked = 0
    original = Independent._given

    def counted(self, mention, must):
        nonlocal asked
        asked += 1
        return original(self, mention, must)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Independent, "_given", counted)
        ((log, _),) = average([one, other], [0.5, 0.5])._best(1)
    assert asked <= (QUESTIONS + 1) * len(some)
    assert log <= math.log(0.5) + 12 * -math.log1p(math.exp(-0.1)) + math.log(2)
