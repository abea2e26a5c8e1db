"""Decisions by thresholds: chosen by hand-made cases and by trying every threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom import Mention, Recognizer, Sentence, read
from spanloom.base.errors import ParameterError
from spanloom.corpus.crossfit import blocks
from spanloom.deciding import never_two
from spanloom.decisions.decision import ENOUGH, FLOOR, AtLeast, Best, ExpectedF1, OnDev, decision, lower_bound
from spanloom.decisions.rule import Rule, fitting, most_probable
from spanloom.evaluation import micro
from spanloom.learning import Auto
from spanloom.models.trained import Trained


def x(i: int, label: str = "X", prob: float | None = None) -> Mention:
    return Mention(label, ((i, i + 1),), prob)


CASES = st.lists(
    st.tuples(st.sampled_from([0.02, 0.1, 0.3, 0.5, 0.7, 0.95]), st.booleans(), st.sampled_from(["X", "Y"])),
    min_size=1,
    max_size=12,
)


def made(case):
    believed = [[(p, x(i, label)) for i, (p, _, label) in enumerate(case)]]
    return believed, [[x(i, label) for i, (_, right, label) in enumerate(case) if right] + [x(50), x(51, "Y")]]


def cut(believed, thresholds):
    return [[m for p, m in own if p >= thresholds[m.label]] for own in believed]


EVERY = [0.01, 0.05, 0.2, 0.4, 0.6, 0.8, 0.99]


@given(CASES)
def test_one_threshold_gives_the_highest_f1_of_all(case):
    """No other cut of the same probabilities scores higher."""
    believed, gold = made(case)
    chosen = ExpectedF1(by_label=False).choose(believed, gold, ["X", "Y"])
    best = max(micro(gold, cut(believed, dict.fromkeys("XY", t))).f1 for t in EVERY)
    assert micro(gold, cut(believed, chosen)).f1 == pytest.approx(best)


@given(CASES, st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_at_least_gives_the_most_of_the_other_where_it_can_be_reached(case, asked):
    believed, gold = made(case)
    scores = [micro(gold, cut(believed, dict.fromkeys("XY", t))) for t in EVERY]
    plain = {"confidence": 0.5}
    found = micro(gold, cut(believed, AtLeast(precision=asked, **plain).choose(believed, gold, "XY")))
    precise = [s.recall for s in scores if s.predicted and s.precision >= asked]
    if precise:
        assert found.precision >= asked
        assert found.recall == max(precise)
    found = micro(gold, cut(believed, AtLeast(recall=asked, **plain).choose(believed, gold, "XY")))
    complete = [s.precision for s in scores if s.recall >= asked]
    if complete:
        assert found.recall >= asked
        assert found.precision == max(complete)


def test_labels_with_enough_mentions_have_thresholds_of_their_own():
    """X is right at 0.3, Y is wrong at 0.3 and right at 0.9: X is cut below 0.3, Y between 0.3 and 0.9."""
    believed = [[(0.3, x(0)), (0.3, x(1, "Y")), (0.9, x(2, "Y"))]] * ENOUGH
    gold = [[x(0), x(2, "Y")]] * ENOUGH
    chosen = ExpectedF1().choose(believed, gold, ["X", "Y"])
    assert chosen["X"] < 0.3 < chosen["Y"] < 0.9
    few = ExpectedF1().choose(believed[1:], gold[1:], ["X", "Y"])
    assert few["X"] == few["Y"]


def test_what_cannot_be_reached_comes_as_near_as_it_can():
    believed, gold = [[(0.9, x(0)), (0.4, x(1))]], [[x(1), x(2)]]
    assert AtLeast(precision=0.9).choose(believed, gold, ["X"]) == {"X": FLOOR}  # ½ is right, against none
    assert AtLeast(recall=0.9).choose(believed, gold, ["X"]) == {"X": FLOOR}
    assert not AtLeast(recall=0.9).facts(micro([[x(0), x(1)]], [[x(0)]]))["reached"]


@given(CASES, st.sampled_from([0.3, 0.5, 0.8]), st.sampled_from(["precision", "recall"]), st.sampled_from([0.6, 0.9]))
def test_the_lower_bound_reaches_what_is_asked_for_if_it_can(case, asked, name, confidence):
    """Of all cuts whose bound does so, the one with the most of the other; else the highest bound."""
    believed, gold = made(case)
    wanted = AtLeast(confidence=confidence, **{name: asked})
    other = "recall" if name == "precision" else "precision"

    def bound(score):
        return wanted.facts(score)["lower_bound"] if score.predicted else 0.0

    scores = [micro(gold, cut(believed, dict.fromkeys("XY", t))) for t in EVERY]
    found = micro(gold, cut(believed, wanted.choose(believed, gold, "XY")))
    enough = [getattr(s, other) for s in scores if bound(s) >= asked]
    if enough:
        assert bound(found) >= asked - 1e-9
        assert getattr(found, other) == pytest.approx(max(enough))
    elif found.predicted:
        assert bound(found) == pytest.approx(max(map(bound, scores)))


def test_a_precision_that_is_just_reached_is_not_enough():
    """Nine of ten are right from 0.5 on, and all of forty from 0.95 on."""
    high = [(0.95, x(i)) for i in range(40)]
    low = [(0.5, x(i)) for i in range(40, 60)]
    gold = [[m for _, m in high] + [m for _, m in low[:14]]]  # 54 of 60 are right, 0.9 exactly
    plain = AtLeast(precision=0.9, confidence=0.5).choose([high + low], gold, ["X"])["X"]
    sure = AtLeast(precision=0.9).choose([high + low], gold, ["X"])["X"]
    assert plain <= 0.5 < sure <= 0.95


def test_the_bound_holds_as_often_as_it_says():
    """Shares of 200 draws: the bound is below the truth about nine times of ten."""
    random = np.random.default_rng(4)
    shares = random.binomial(200, 0.9, 20_000) / 200
    assert np.mean(lower_bound(shares, 200, 0.9) <= 0.9) == pytest.approx(0.9, abs=0.04)


def test_names_and_wrong_names():
    assert decision("precision=0.9") == AtLeast(precision=0.9)
    assert decision("auto") == OnDev()
    for wrong in ("precision=much", "precision=1.5", "at-least", "f2"):
        with pytest.raises(ParameterError):
            decision(wrong)
    with pytest.raises(ParameterError, match="one number"):
        AtLeast(precision=0.9, recall=0.9)
    with pytest.raises(ParameterError, match="'confidence' parameter must be a number from"):
        AtLeast(precision=0.9, confidence=1.0)
    with pytest.raises(ParameterError, match="development data"):
        Recognizer("chain", decide="auto").fit([Sentence(["a"], [x(0)])])


def test_the_same_tokens_keep_the_most_probable_label():
    both, other = [x(0, "X", 0.4), x(0, "Y", 0.6)], x(1, "X", 0.1)
    assert most_probable([*both, other], flat=False) == [both[1], other]
    assert never_two([Sentence(["a"], [x(0), x(0)])])
    assert not never_two([Sentence(["a"], [x(0), x(0, "Y")])])


@pytest.fixture(scope="module")
def train():
    return list(read("sample:train"))


@pytest.fixture(scope="module")
def dev():
    return list(read("sample:dev"))


def test_an_exclusive_union_gives_no_tokens_two_labels(train, dev):
    """A large penalty makes EDGE give labels to nearly everything; the best structure alone gives tokens several."""
    ner = Recognizer("edge", trainer=Auto(max_iter=5), keep="longest", decide=Best(3.0, exclusive="auto")).fit(train)
    loose = Best(3.0, exclusive=False)
    loose = Recognizer("edge", trainer=Auto(max_iter=5), keep="longest", decide=loose).fit(train)
    sentences = [s for doc in dev for s in doc.sentences]
    assert not never_two(loose.predict(sentences))
    assert never_two(ner.predict(sentences))
    for one, all_ in zip(ner.predict(sentences), loose.predict(sentences), strict=True):
        belief = loose.distribution(all_)
        for mention in set(all_.mentions) - set(one.mentions):
            (kept,) = [m for m in one.mentions if m.parts == mention.parts]
            assert belief.prob(kept) >= belief.prob(mention)


def test_mentions_that_share_tokens_keep_the_most_probable_ones():
    """The second excludes both others, but the first is more probable; then nothing excludes the third."""
    first, second, third = (Mention("X", (span,), p) for span, p in (((0, 2), 0.9), ((1, 4), 0.8), ((3, 5), 0.7)))
    assert most_probable([third, second, first], flat=True) == [third, first]
    assert most_probable([first, Mention("Y", ((0, 2),), 0.9)], flat=True) == [first]


def _in_one_pass_and_in_two(ner, rule, sentences, **asked):
    """Natively in one pass, and from what is found in another; mentions and probabilities must be the same."""
    quick = ner.trained_.find_by(rule, sentences, 1, **asked)
    slow = Trained.find_by(ner.trained_, rule, sentences, 1, **asked)
    assert quick == slow
    assert [[m.prob for m in own] for own in quick] == [[m.prob for m in own] for own in slow]
    return quick


@pytest.mark.parametrize("model", ["edge", "state", "hypergraph"])
@pytest.mark.parametrize("exclusive", [True, "flat"])
@pytest.mark.parametrize("probabilities", [False, True])
def test_exclusive_answers_are_the_same_in_one_pass_and_in_two(train, dev, probabilities, exclusive, model):
    ner = Recognizer(model, trainer=Auto(max_iter=5), keep="longest", decide=Best(3.0)).fit(train)
    sentences = [s for doc in dev for s in doc.sentences]
    found = _in_one_pass_and_in_two(ner, Rule(None, exclusive), sentences, probabilities=probabilities)
    assert sum(map(len, found)) < sum(map(len, ner.trained_.find(sentences, 1)))


@pytest.mark.parametrize("model", ["chain", "chains", "edge", "state", "hypergraph"])
@pytest.mark.parametrize("exclusive", [False, True, "flat"])
def test_answers_by_thresholds_are_the_same_in_one_pass_and_in_two(train, dev, exclusive, model):
    """Thresholds that let mentions in which exclude each other or do not fit the model; a label that is never given."""
    ner = Recognizer(model, trainer=Auto(max_iter=5), keep="longest").fit(train)
    sentences = [s for doc in dev for s in doc.sentences]
    thresholds = {"DNA": 0.05, "protein": 0.02, "cell_type": 0.1}
    found = _in_one_pass_and_in_two(ner, Rule(thresholds, exclusive), sentences)
    assert {m.label for own in found for m in own} == {*thresholds} < {*ner.labels_}
    everything = [m for own in ner.trained_.find_above(sentences, 0.02, 1) for m in own]
    enough = [m for m in everything if m.prob >= thresholds.get(m.label, 2.0)]
    assert (sum(map(len, found)) < len(enough)) == (bool(exclusive) or model in ("chain", "chains"))
    assert all(ner.model_.misfit(own) is None for own in found)


def test_labels_are_exclusive_by_default_where_training_says_so_and_models_do_not(train):
    """One label a span in the sample; two in what is added to it. A chain gives tokens one label anyway."""
    settings = {"trainer": Auto(max_iter=1), "keep": "longest"}
    assert Recognizer("edge", **settings).fit(train).rule_ == Rule(None, exclusive=True)
    assert Recognizer("chain", **settings).fit(train).rule_ == Rule()
    both = Sentence(["IL-2"], [Mention("DNA", ((0, 1),)), Mention("protein", ((0, 1),))])
    assert Recognizer("edge", **settings).fit([*train, both]).rule_ == Rule()
    assert Recognizer("edge", **settings, decide=Best(exclusive=True)).fit([*train, both]).rule_.exclusive
    flat = [Sentence(["a", "b"], [x(0), x(1, "Y")]), Sentence(["b", "a"], [x(1)])]
    assert Recognizer("edge", **settings).fit(flat).rule_.exclusive == "flat"
    assert Recognizer("edge", **settings).fit(flat).training_["never"] == "overlap"
    assert Recognizer("edge", **settings, decide=Best(exclusive="flat")).fit(train).rule_.exclusive == "flat"
    assert Recognizer("chain", **settings, decide=Best(exclusive="flat")).fit(train).rule_ == Rule()


def test_what_a_flat_model_cannot_hold_together_is_left_out(train):
    ner = Recognizer("chain", trainer=Auto(max_iter=2), keep="longest").fit(train)
    wide, narrow = Mention("DNA", ((0, 3),), 0.4), Mention("DNA", ((1, 2),), 0.3)
    assert fitting(ner.trained_, [wide, narrow, x(5, "DNA", 0.1)]) == [wide, x(5, "DNA")]


@pytest.mark.parametrize("decide", ["f1", "recall=0.5", "auto"])
def test_the_decision_counts_in_predict_and_in_the_file(train, dev, decide, tmp_path):
    """What is reported of dev is what predict gives there, also after a file."""
    ner = Recognizer("edge", trainer=Auto(max_iter=15), keep="longest", decide=decide).fit(train, dev=dev)
    told = ner.training_["decision"]
    report = ner.score(dev)
    assert (told["precision"], told["recall"]) == (report.precision, report.recall)
    assert ner.training_["dev_f1"] == report.f1
    ner.save(tmp_path / "a.loom")
    again = Recognizer.load(tmp_path / "a.loom")
    assert again.rule_ == ner.rule_
    assert again.decide == decision(decide)
    assert again.predict(dev) == ner.predict(dev)
    if decide == "auto":
        assert told["f1"] == report.f1
        assert told["chosen"] == "f1" or told["f1"] == max(told["tried"][name] for name in ("best", "penalty"))
    else:
        assert ner.rule_.thresholds is not None
        assert all(m.prob >= ner.rule_.thresholds[m.label] for doc in ner.predict(dev) for m in doc.mentions)


@pytest.mark.parametrize(("times", "chosen"), [(1, "penalty"), (3, "penalty"), (24, "f1")])
def test_thresholds_must_be_better_by_a_standard_error(train, dev, times, chosen):
    """Three times the data: better, but by less than an error, which falls with the root of how many there are."""
    ner = Recognizer("edge", trainer=Auto(max_iter=15), keep="longest", threads=1).fit(train)
    ner.set_decision("auto", dev * times)
    told = ner.training_["decision"]
    assert told["tried"]["penalty"] > told["tried"]["best"]
    assert (told["tried"]["f1"] > told["tried"]["penalty"]) == (times > 1)
    assert told["chosen"] == chosen


def test_thresholds_are_compared_where_they_were_not_chosen(train, dev):
    """Every fifth of the development data is answered by a recogniser whose thresholds come from the other four."""
    ner = Recognizer("edge", trainer=Auto(max_iter=15), keep="longest", threads=1).fit(train)
    ner.set_decision("auto", dev)
    told = ner.training_["decision"]["tried"]["f1"]
    sentences = [s for doc in dev for s in doc.sentences]
    found = []
    for block in blocks([1] * len(sentences), 5):
        ner.set_mention_penalty(0)
        ner.set_decision("f1", sentences[: block.start] + sentences[block.stop :])
        found += [s.mentions for s in ner.predict(sentences[block.start : block.stop])]
    assert told == pytest.approx(micro([s.mentions for s in sentences], found).f1)


def test_without_dev_thresholds_are_cross_fitted(train):
    ner = Recognizer("chain", trainer=Auto(max_iter=3), keep="longest", decide="f1").fit(train)
    assert ner.training_["decision"]["chosen_on"] == "training data, cross-fitted"
    assert Rule.from_json(ner.rule_.to_json()) == ner.rule_


def test_for_a_flat_model_no_common_threshold_is_better(train, dev):
    """Overlapping mentions below 0.5 go before the threshold is chosen, so that no other cut of dev scores higher."""
    settings = {"trainer": Auto(max_iter=10), "keep": "longest", "decide": ExpectedF1(by_label=False)}
    ner = Recognizer("chain", **settings).fit(train, dev=dev)
    told = ner.training_["decision"]["f1"]
    for threshold in (FLOOR, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8):
        ner.rule_ = Rule(dict.fromkeys(ner.labels_, threshold), ner.rule_.exclusive)
        assert ner.score(dev).f1 <= told + 1e-12


def test_labels_without_candidates_keep_the_common_threshold():
    """A hundred gold mentions of which the model believes none."""
    gold = [[Mention("A", ((0, 1),))] for _ in range(100)]
    assert ExpectedF1().choose([[] for _ in gold], gold, ["A"]).keys() == {"A"}
