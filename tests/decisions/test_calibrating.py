"""Calibration: closed forms, curves that made the data, what is kept, and that it is off by less afterwards."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom import Mention, Recognizer, Sentence, read
from spanloom.base.errors import ParameterError
from spanloom.decisions.calibration import CALIBRATIONS, Calibration, beta, calibrate, isotonic, temperature
from spanloom.decisions.decision import AtLeast, Best, ExpectedF1, OnDev
from spanloom.learning import LBFGS, Mira

PROBS = st.lists(
    st.tuples(st.sampled_from([0.02, 0.1, 0.3, 0.5, 0.8, 0.99, 1.0]), st.booleans()), min_size=1, max_size=9
)


@given(PROBS)
def test_isotonic_is_the_best_rising_sequence(pairs: list[tuple[float, bool]]) -> None:
    """By the max-min formula: y_i = max over a ≤ i of min over b ≥ i of the mean of a … b (Barlow et al. 1972)."""
    p, right = np.array([q for q, _ in pairs]), np.array([y for _, y in pairs])
    values = sorted(set(p.tolist()))
    groups = [right[p == v].astype(float) for v in values]
    n = len(values)
    best = [
        max(min(np.concatenate(groups[a : b + 1]).mean() for b in range(i, n)) for a in range(i + 1)) for i in range(n)
    ]
    made = isotonic(p, right)
    assert made is not None
    # A pool is a point at its mean, so the curve has the mean of the best sequence there. An outer pool that was all
    # wrong or all right has (0 + 1) / (n + 2) or (n + 1) / (n + 2) instead, if the curve still rises.
    levels = sorted({round(value, 9) for value in best})
    for value, own in itertools.groupby(zip(best, groups, values, strict=True), key=lambda one: round(one[0], 9)):
        pooled = list(own)
        count = sum(len(g) for _, g, _ in pooled)
        center = sum(v * len(g) for _, g, v in pooled) / count
        if value == 0.0:
            value = min([1 / (count + 2), *levels[1:2]])
        elif value == 1.0:
            value = max([(count + 1) / (count + 2), *levels[-2:-1]])
        assert float(made(center)) == pytest.approx(value, abs=1e-9)


@given(PROBS, st.sampled_from(list(CALIBRATIONS)), st.floats(0.001, 0.999))
def test_curves_rise_and_are_turned_back(pairs: list[tuple[float, bool]], kind: str, asked: float) -> None:
    made = CALIBRATIONS[kind](np.array([q for q, _ in pairs]), np.array([y for _, y in pairs]))
    if made is None:
        return
    curve = made(np.linspace(0, 1, 201))
    assert (np.diff(curve) >= -1e-12).all()
    assert ((curve >= 0) & (curve <= 1)).all()
    least = made.inverse(asked)
    if float(made(1.0)) >= asked:
        assert float(made(least)) >= asked - 1e-9
        assert least < 1e-9 or float(made(least * (1 - 1e-6))) <= asked + 1e-3
    else:
        assert least == 1.0
    assert Calibration.from_json(made.to_json()) == made


def test_isotonic_makes_nothing_certain() -> None:
    """Eight of eight right are nine of ten by the rule of succession, three of three wrong one of five."""
    p, right = np.array([0.1] * 3 + [0.5] * 2 + [0.99] * 8), np.array([0] * 3 + [0, 1] + [1] * 8, bool)
    made = isotonic(p, right)
    assert made is not None
    assert made([0.1, 0.5, 0.99, 1.0]) == pytest.approx([0.2, 0.5, 0.9, 0.9])
    few = isotonic(np.array([0.1] + [0.2] * 10), np.array([0] + [1] + [0] * 9, bool))
    assert few is not None
    assert few([0.1, 0.2]) == pytest.approx([0.1, 0.1])  # 1 / 3 would be above what comes after it


def test_the_slope_that_made_the_data_is_found() -> None:
    random = np.random.default_rng(3)
    p = random.random(40_000)
    truth = 1 / (1 + np.exp(-0.5 * np.log(p / (1 - p))))
    right = random.random(40_000) < truth
    made = temperature(p, right)
    assert made is not None
    assert made.values[0] == pytest.approx(0.5, abs=0.02)
    sentence = np.arange(40_000)
    assert calibrate("auto", p, right, sentence).calibration is not None
    kept = calibrate("auto", truth, right, sentence)
    assert np.abs(kept.probs - truth).mean() < 0.01  # what is right already stays about what it is


def test_the_two_slopes_that_made_the_data_are_found() -> None:
    random = np.random.default_rng(5)
    p = random.random(60_000)
    z = 0.4 * np.log(p) - 1.5 * np.log1p(-p) - 0.3
    right = random.random(len(p)) < 1 / (1 + np.exp(-z))
    made = beta(p, right)
    assert made is not None
    assert made.values == pytest.approx((0.4, 1.5, -0.3), abs=0.06)
    assert made(p[:5]) == pytest.approx(1 / (1 + np.exp(-z[:5])), abs=0.02)
    assert calibrate("auto", p, right, np.arange(len(p))).calibration is not None


def test_answers_and_others_have_a_curve_each() -> None:
    """All together say that half are right; those of the answers are right as often as given, and do not change."""
    random = np.random.default_rng(6)
    answers = np.arange(4000) % 4 == 0
    p = np.full(4000, 0.8)
    right = np.where(answers, random.random(4000) < 0.8, random.random(4000) < 0.4)
    together = calibrate("auto", p, right, np.arange(4000)).calibration
    assert together is not None
    assert together.others is None
    assert float(together(0.8)) == pytest.approx(0.5, abs=0.03)
    done = calibrate("auto", p, right, np.arange(4000), answers)
    apart = done.calibration
    assert apart is not None
    assert apart.of([0.8, 0.8], [True, False]) == pytest.approx([0.8, 0.4], abs=0.03)
    assert done.probs[answers].mean() == pytest.approx(0.8, abs=0.03)
    assert done.probs[~answers].mean() == pytest.approx(0.4, abs=0.03)
    assert Calibration.from_json(apart.to_json()) == apart


def test_what_is_asked_for_of_calibrated_mentions_is_looked_for_below_both_curves() -> None:
    """0.5 becomes 0.9 outside of answers: whoever asks for 0.9 must look from 0.5 on."""
    curve = Calibration("temperature", (1.0, 0.0), Calibration("platt", (1.0, float(np.log(9)))))
    assert curve.least(0.9) == pytest.approx(0.5)
    assert curve.inverse(0.9) == pytest.approx(0.9)


def test_the_same_mention_has_the_same_probability_whatever_is_asked_for() -> None:
    """Among answers, and among all mentions above a probability: it knows whether it is in the best structure."""
    train, dev = list(read("sample:train")), list(read("sample:dev"))
    ner = Recognizer("edge", keep="longest", trainer=LBFGS(max_iter=20), threads=1).fit(train)
    ner.set_decision(Best(calibrate="platt"), dev)
    assert ner.rule_.calibration is not None
    assert ner.rule_.calibration.others is not None
    answers = [{m: m.prob for m in doc.mentions} for doc in ner.predict(dev, probabilities=True)]
    all_of_them = [{m: m.prob for m in doc.mentions} for doc in ner.predict(dev, above=0.01)]
    shared = [
        (own[m], p) for own, likely in zip(answers, all_of_them, strict=True) for m, p in likely.items() if m in own
    ]
    assert len(shared) > 20
    assert all(a == pytest.approx(b, abs=1e-12) for a, b in shared)
    assert sum(map(len, all_of_them)) > len(shared)


@pytest.mark.parametrize("kind", ["platt", "beta"])
@pytest.mark.parametrize("value", [0.0, 1e-7, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("count", [2, 3, 1000, 4000])
def test_one_probability_for_all_becomes_the_share_that_is_right(kind: str, value: float, count: int) -> None:
    """In closed form: all with the same p, so that offset alone can be learned; Platt's targets of half of them."""
    made = CALIBRATIONS[kind](np.full(count, value), np.arange(count) % 2 == 0)
    assert made is not None
    right = (count + 1) // 2
    target = (right * (right + 1) / (right + 2) + (count - right) / (count - right + 2)) / count
    assert float(made(value)) == pytest.approx(target, abs=1e-9)
    assert made.values[:-1] == (1.0,) * (len(made.values) - 1)


@pytest.mark.parametrize("kind", ["platt", "beta"])
def test_two_probabilities_become_the_two_shares(kind: str) -> None:
    """Also by the beta curve, whose three numbers two points cannot tell apart."""
    p, right = np.repeat([0.9, 0.1], 400), np.arange(800) % 4 == 0
    right[:400] = ~right[:400]
    made = CALIBRATIONS[kind](p, right)
    assert made is not None
    assert made([0.9, 0.1]) == pytest.approx([0.75, 0.25], abs=0.002)


def test_probabilities_of_a_part_come_from_a_curve_of_the_others() -> None:
    """By hand: five sentences, each judged by the isotonic curve of the other four."""
    p, right = np.array([0.2, 0.4, 0.6, 0.8, 0.9]), np.array([False, True, False, True, True])
    done = calibrate("isotonic", p, right, np.arange(5))
    for i in range(5):
        other = isotonic(np.delete(p, i), np.delete(right, i))
        assert other is not None
        assert done.probs[i] == float(other(p[i]))


@pytest.mark.parametrize("right", [True, False])
def test_nothing_is_learned_from_one_kind_of_mention(right: bool) -> None:
    done = calibrate("platt", np.array([0.2, 0.9]), np.array([right, right]), np.arange(2))
    assert done.calibration is None
    assert done.probs.tolist() == [0.2, 0.9]


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "other", "values": [1, 0]},
        {"kind": "platt", "values": [-1, 0]},
        {"kind": "beta", "values": [1, 0]},
        {"kind": "beta", "values": [1, -1, 0]},
        {"kind": "isotonic", "values": [0, 0, 0.5, 0.8, 0.4, 0.9]},
    ],
)
def test_damaged_curves_are_refused(data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="has no values"):
        Calibration.from_json(data)


def test_kinds_are_checked() -> None:
    with pytest.raises(ParameterError, match="must be one of none, auto, temperature"):
        Best(calibrate="spline")


def noisy(count: int, seed: int) -> list[Sentence]:
    """Words that are a mention three times of four: a model that learns single sentences by heart is too sure."""
    draw = np.random.default_rng(seed)
    made = []
    for i in range(count):
        tokens = ["the", f"w{i}", "gene" if draw.random() < 0.5 else "cell", f"v{i}"]
        found = [Mention("X", ((2, 3),))] if draw.random() < (0.75 if tokens[2] == "gene" else 0.35) else []
        made.append(Sentence(tokens, found))
    return made


@pytest.mark.parametrize("model", ["edge", "multilabel"])
def test_calibrated_answers_are_off_by_less(model: str, tmp_path) -> None:
    trainer = Mira(max_iter=5) if model == "multilabel" else LBFGS(l2=0.001)
    features = ["word[-1..1]"]
    train, dev, test = noisy(300, 1), noisy(400, 2), noisy(1500, 3)
    ner = Recognizer(model, features=features, trainer=trainer, threads=1).fit(train, dev=dev)
    plain = ner.predict(test, above=0.02)
    assert ner.training_["calibration"]["kind"] == "none"
    ner.set_decision(Best(calibrate="auto"), dev)
    facts = ner.training_["calibration"]
    assert facts["error_calibrated"] < facts["error"]
    assert ner.belief_ == "calibrated"
    better = ner.predict(test, above=0.02)

    def gap(found: list[Sentence]) -> float:
        pairs = [(m.prob, m in gold.mentions) for gold, own in zip(test, found, strict=True) for m in own.mentions]
        p, right = np.array([p for p, _ in pairs]), np.array([y for _, y in pairs])
        return max(abs((p - right)[p > 0.5].mean()), abs((p - right)[p <= 0.5].mean()) if (p <= 0.5).any() else 0)

    assert gap(better) < gap(plain)
    ner.save(tmp_path / "m.loom")
    loaded = Recognizer.load(tmp_path / "m.loom", threads=1)
    assert loaded.rule_ == ner.rule_
    doc = loaded.predict("the x gene y", probabilities=True)
    assert doc.meta["probabilities"] == "calibrated"
    assert [m.prob for m in doc.mentions] == [m.prob for m in ner.predict("the x gene y", probabilities=True).mentions]


def test_order_and_best_answers_stay_the_same() -> None:
    train, dev = list(read("sample:train")), list(read("sample:dev"))
    ner = Recognizer("edge", keep="longest", trainer=LBFGS(max_iter=20), threads=1).fit(train, dev=dev)
    before = ner.predict(dev, probabilities=True)
    ner.set_decision(Best(calibrate="platt"), dev)
    after = ner.predict(dev, probabilities=True)
    assert [doc.mentions for doc in after] == [doc.mentions for doc in before]
    curve = ner.rule_.calibration
    assert curve is not None
    for one, other in zip(before, after, strict=True):
        assert [m.prob for m in other.mentions] == pytest.approx(
            [float(curve(m.prob)) for m in one.mentions], abs=1e-12
        )


@pytest.mark.parametrize("model", ["semimarkov", "spans", "chain", "memm"])
def test_every_model_can_decide_in_another_way(model: str) -> None:
    """Those without a mention penalty too."""
    train, dev = noisy(60, 7), noisy(60, 8)
    ner = Recognizer(model, features=["word"], trainer=LBFGS(max_iter=10), threads=1).fit(train)
    ner.set_decision("auto", dev)
    assert ner.training_["decision"]["chosen_on"] == "development data"
    assert ner.decide == OnDev()
    again = Recognizer(model, features=["word"], trainer=LBFGS(max_iter=10), decide="auto", threads=1)
    assert again.fit(train, dev=dev).rule_ == ner.rule_


def test_thresholds_are_on_calibrated_probabilities() -> None:
    train, dev = list(read("sample:train")), list(read("sample:dev"))
    ner = Recognizer("chain", keep="longest", decide=AtLeast(precision=0.9, calibrate="isotonic"), threads=1)
    ner.fit(train, dev=dev)
    least = ner.rule_.thresholds
    found = ner.predict(dev)
    assert least is not None
    assert all(m.prob >= least[m.label] for doc in found for m in doc.mentions)
    assert {"decision", "calibration"} <= ner.training_.keys()


def test_without_development_data_it_is_learned_by_cross_fitting() -> None:
    ner = Recognizer("chain", decide=ExpectedF1(calibrate="temperature"), features=["word"], threads=1)
    ner.fit(noisy(80, 4))
    assert ner.training_["calibration"]["measured_on"] == "training data, cross-fitted"
    assert ner.rule_.calibration is not None


def test_a_threshold_on_scores_would_spoil_it() -> None:
    ner = Recognizer("multilabel", features=["word"], trainer=Mira(max_iter=2), threads=1).fit(noisy(60, 5))
    ner.set_decision(Best(calibrate="platt"), noisy(60, 6))
    with pytest.raises(ParameterError, match="probabilities were calibrated with the threshold"):
        ner.set_threshold(0.3)


def test_blocks_that_are_learned_at_once_give_the_same_calibration() -> None:
    """Online training calibrates with several blocks side by side."""
    docs = list(read("sample:train?domain=news"))[:8]
    one, two = (
        Recognizer("multilabel", decide=Best(calibrate="platt"), keep="longest", threads=n).fit(docs) for n in (1, 2)
    )
    left, right = (ner.predict(docs[:3], above=0.1) for ner in (one, two))
    assert [[(m, m.prob) for m in doc.mentions] for doc in left] == [
        [(m, m.prob) for m in doc.mentions] for doc in right
    ]
