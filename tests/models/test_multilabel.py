"""The multilabel model: scores from named weights, learning as the paper defines it, what it holds, what it keeps."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import nnls

from spanloom import Document, Mention, Recognizer, Sentence, read
from spanloom.base.errors import EncodingError, ModelFileError, ParameterError
from spanloom.configuration import configure
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import Auto, LogLinear, Mira, Perceptron, Trainer
from spanloom.learning.online import ROLES
from spanloom.models import Multilabel
from spanloom.models.subsets import Subsets
from tests.models.subset_oracle import all_segments, restricted

TEMPLATES = [
    "bias",
    "word[-1..1]",
    "distance",
    "word[left] & word[right-1]",
    "pos[left+1] & pos[right]",
    "word[between]",
    "pos[left] & word[between]",
    "segment(pos)[between]",
    "segment(word)[left..right]",
]
RANGES = [(2, 2), (3, 3), (4, 4), (5, 5), (6, 7), (8, 10), (11, 15), (16, 25), (26, 10**6)]
NEWS = Sentence(
    ["Bill", "and", "Hilary", "Clinton", "left", "Ohio"],
    [Mention("PER", ((0, 1), (3, 4))), Mention("PER", ((2, 4),)), Mention("LOC", ((5, 6),))],
    {"pos": ["NNP", "CC", "NNP", "NNP", "VBD", "NNP"]},
)


def at(values: list[str], i: int) -> str:
    return "<s>" if i < 0 else "</s>" if i >= len(values) else values[i]


def step_features(sentence: Sentence, j: int, i: int) -> Counter[str]:
    """g(j, i) by name, from the paper's section 3.3: states, windows of the ends, distance, what is between."""
    n, word, pos = len(sentence), sentence.tokens, sentence.columns["pos"]
    found: Counter[str] = Counter()

    def token(t: int, role: str) -> None:
        found[f"{role} bias"] += 1
        for offset in (-1, 0, 1):
            found[f"{role} word[{offset}]={at(word, t + offset)}"] += 1

    if j < 0:
        token(i, "start")
    elif i == n:
        token(j, "end")
    else:
        state = "next" if i == j + 1 else "skip"
        token(j, f"{state}_left")
        token(i, f"{state}_right")
        if state == "skip":
            found["distance " + str(next(r for r, (low, high) in enumerate(RANGES) if low <= i - j <= high))] += 1
            found[f"word[left]={word[j]} & word[right-1]={word[i - 1]}"] += 1
            found[f"pos[left+1]={pos[j + 1]} & pos[right]={pos[i]}"] += 1
            found[f"segment(pos)[between]={' '.join(pos[j + 1 : i])}"] += 1
            found[f"segment(word)[left..right]={' '.join(word[j : i + 1])}"] += 1
            for w in set(word[j + 1 : i]):
                found[f"word[between]={w}"] += 1
                found[f"pos[left]={pos[j]} & word[between]={w}"] += 1
    return found


def features(sentence: Sentence, tokens: list[int]) -> Counter[str]:
    total: Counter[str] = Counter()
    for a, b in pairwise([-1, *tokens, len(sentence)]):
        total.update(step_features(sentence, a, b))
    return total


def named_weights(ner: Recognizer) -> list[dict[str, float]]:
    """The weights of each type by the names of the oracle."""
    model = ner.trained_
    assert isinstance(model, Subsets)
    types = len(model.labels)
    weights: list[dict[str, float]] = [{} for _ in range(types)]
    for f, name in enumerate(ner.extractor_.names()):
        for r, role in enumerate(ROLES):
            for t in range(types):
                weights[t][f"{role} {name}"] = float(model.weights.tokens[f, r * types + t])
    for p in range(len(model.weights.pairs)):
        for t in range(types):
            weights[t][model._finder.pair_feature(p)] = float(model.weights.pairs[p, t])
    for r in range(len(RANGES)):
        for t in range(types):
            weights[t][f"distance {r}"] = float(model.weights.distances[r * types + t])
    return weights


def score_of(weights: dict[str, float], some: Counter[str]) -> float:
    return sum(weights.get(name, 0.0) * count for name, count in some.items())


@pytest.fixture(scope="module")
def sample() -> tuple[list[Sentence], list[Sentence]]:
    return tuple([s for d in read(f"sample:{part}") for s in d.sentences] for part in ("train", "test"))  # type: ignore[return-value]


@pytest.mark.parametrize("restrictions", [[], ["no_overlap"], ["no_embedding"], ["no_self_embedding"]])
def test_the_best_subsets_are_those_of_the_enumeration(sample, restrictions: list[str]) -> None:
    """All 2ⁿ subsets, scored in Python from features by name, give the same candidates in the same order."""
    train, test = sample
    ner = Recognizer(Multilabel(max_gap=4), features=TEMPLATES, trainer=Auto(max_iter=2), keep="longest")
    ner.fit(train)
    model = ner.trained_
    assert isinstance(model, Subsets)
    model.restrictions = tuple(restrictions)
    weights = named_weights(ner)
    checked = 0
    for sentence in [s for s in test if 5 <= len(s) <= 9][:4]:
        table = {
            (a, b): [score_of(w, step_features(sentence, a, b)) for w in weights]
            for a in range(-1, len(sentence))
            for b in range(a + 1, len(sentence) + 1)
        }
        segments = all_segments(len(sentence), len(weights), lambda a, b, t, s=table: s[a, b][t], 4)
        k = 2 * len(sentence)
        expected = restricted(segments, k, **dict.fromkeys(restrictions, True))
        (found,) = model.candidates([sentence], k)
        assert [s for s, _ in found] == pytest.approx([s for s, _, _ in expected], abs=1e-4)
        # Equal scores may come in any order.
        sure = [i for i in range(len(expected) - 1) if expected[i][0] - expected[i + 1][0] > 1e-3]
        for i in sure[1:]:
            if i - 1 in sure:
                assert (found[i][1].label, list(found[i][1].tokens)) == (
                    model.types[expected[i][1]],
                    expected[i][2],
                )
                checked += 1
    assert checked > 10


def least_distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """min ‖d‖ subject to A d ≥ b, by non-negative least squares (Lawson & Hanson 1974, chapter 23)."""
    matrix = np.vstack([a.T, b])
    target = np.zeros(len(matrix))
    target[-1] = 1
    u, _ = nnls(matrix, target, maxiter=10_000)
    r = matrix @ u - target
    return -r[:-1] / r[-1]


def test_mira_makes_the_smallest_change_that_satisfies_the_margins() -> None:
    """Two epochs over one sentence equal two projections by a reference solver, averaged with the start."""
    sentence = Sentence(
        ["Bill", "and", "Hilary", "Clinton"],
        [Mention("PER", ((0, 1), (3, 4))), Mention("PER", ((2, 4),))],
        {"pos": ["NNP", "CC", "NNP", "NNP"]},
    )
    ner = Recognizer(
        Multilabel(k=100, restrictions=[], threshold=0.0),
        features=TEMPLATES,
        trainer=Mira(max_iter=2, aggressiveness=1e9),
    ).fit([sentence])
    subsets = [tokens for _, _, tokens in all_segments(4, 1, lambda a, b, t: 0.0, 2)]
    vectors = [features(sentence, tokens) for tokens in subsets]
    names = sorted({name for v in vectors for name in v})
    matrix = np.array([[v[name] for name in names] for v in vectors], float)
    y = np.array([1.0 if tokens in ([0, 3], [2, 3]) else -1.0 for tokens in subsets])
    w = np.zeros(len(names))
    states = [w]
    for _ in range(2):
        w = w + least_distance(y[:, None] * matrix, 1 - y * (matrix @ w))
        states.append(w)
    assert (y * (matrix @ w) >= 1 - 1e-6).all()
    learned = named_weights(ner)[0]
    assert [learned.get(name, 0.0) for name in names] == pytest.approx(list(np.mean(states, axis=0)), abs=2e-3)


@pytest.mark.parametrize("average", [True, False])
def test_all_pairs_make_the_smallest_change_that_ranks_correct_subsets_above_wrong_ones(average: bool) -> None:
    """Figure 4 of the paper: two projections by a reference solver; their mean with the start, or the last one."""
    sentence = NEWS.with_mentions([m for m in NEWS.mentions if m.label == "PER"])
    ner = Recognizer(
        Multilabel(k=1000, max_gap=4, restrictions=[], threshold=0.0),
        features=TEMPLATES,
        trainer=Mira(max_iter=2, aggressiveness=1e9, average=average, all_pairs=True),
    ).fit([sentence])
    subsets = [tokens for _, _, tokens in all_segments(6, 1, lambda a, b, t: 0.0, 4)]
    right = [i for i, tokens in enumerate(subsets) if tokens in ([0, 3], [2, 3])]
    vectors = [features(sentence, tokens) for tokens in subsets]
    names = sorted({name for v in vectors for name in v})
    matrix = np.array([[v[name] for name in names] for v in vectors], float)
    wrong = [i for i in range(len(subsets)) if i not in right]
    differences = np.array([matrix[i] - matrix[j] for i in right for j in wrong])
    w = np.zeros(len(names))
    states = [w]
    for _ in range(2):
        w = w + least_distance(differences, 1 - differences @ w)
        states.append(w)
    assert (differences @ w >= 1 - 1e-6).all()
    learned = named_weights(ner)[0]
    expected = np.mean(states, axis=0) if average else w
    assert [learned.get(name, 0.0) for name in names] == pytest.approx(list(expected), abs=2e-3)


def test_restrictions_do_not_change_what_all_pairs_learn_of_subsets_that_may_stand_together() -> None:
    """A wrong subset whose score is 1 below every correct one's is not looked at, and would change nothing."""
    flat = NEWS.with_mentions([Mention("PER", ((2, 4),)), Mention("LOC", ((5, 6),))])
    ner = Recognizer(
        Multilabel(restrictions=["no_overlap", "contiguous"], threshold=0.0),
        features=TEMPLATES,
        trainer=Mira(max_iter=20, aggressiveness=1e9, average=False, all_pairs=True),
    ).fit([flat])
    found = ner.trained_.candidates([flat], 10)[0]  # type: ignore[attr-defined]
    assert sorted(m for _, m in found[:2]) == sorted(flat.mentions)
    assert found[1][0] >= found[2][0] + 1 - 1e-3


@pytest.mark.parametrize("trainer", [Mira, Perceptron, LogLinear])
def test_the_figure_of_the_paper_is_learned(trainer: type[Trainer]) -> None:
    """Figure 2a: two people who share a surname, one of them discontinuous."""
    ner = Recognizer("multilabel", features="mcdonald", trainer=trainer(max_iter=30)).fit([NEWS])
    assert sorted(ner.predict(NEWS).mentions) == sorted(NEWS.mentions)
    probs = [m.prob for m in ner.predict(NEWS).mentions]
    assert all(p is not None and 0.5 < p <= 1 for p in probs) if trainer is LogLinear else probs == [None] * 3


def test_discontinuous_mentions_of_the_sample_are_found(sample) -> None:
    train, test = sample
    ner = Recognizer("multilabel", features="mcdonald", trainer=Auto(max_iter=6)).fit(train)
    found = ner.predict(test)
    hits = sum(
        len({m for m in s.mentions if m.discontinuous} & set(p.mentions)) for s, p in zip(test, found, strict=True)
    )
    assert hits >= 3
    assert ner.ceiling_ == 1
    assert ner.score(test).f1 > 0.8


def test_threads_and_seeds_do_not_change_what_must_not_change(sample, tmp_path: Path) -> None:
    train, test = sample
    models = [
        Recognizer("multilabel", features="mcdonald", trainer=Auto(max_iter=2), seed=seed, threads=threads).fit(train)
        for threads, seed in ((1, 1), (2, 1), (1, 2))
    ]
    one, two, other = (m.trained_.weights.tokens for m in models)
    assert np.array_equal(one, two)
    assert one.shape != other.shape or not np.array_equal(one, other)
    assert models[0].predict(test) == models[1].predict(test)


def test_a_model_comes_back_from_its_file(sample, tmp_path: Path) -> None:
    train, test = sample
    ner = Recognizer(Multilabel(threshold={"PER": 0.25}), features="mcdonald", trainer=LogLinear(max_iter=2))
    ner.fit(train)
    ner.save(tmp_path / "m.loom")
    back = Recognizer.load(tmp_path / "m.loom")
    assert [(s.mentions, [m.prob for m in s.mentions]) for s in back.predict(test)] == [
        (s.mentions, [m.prob for m in s.mentions]) for s in ner.predict(test)
    ]
    assert back.labels_ == ner.labels_
    arrays, header = ner.state()
    for damage in ({"thresholds": [0.0]}, {"labels": None}, {"gap": -1}):
        with pytest.raises(ModelFileError, match=r"damaged"):
            Recognizer.from_state(arrays, {**header, "model": {**header["model"], **damage}})


def test_a_higher_threshold_finds_a_part_of_what_a_lower_one_finds(sample) -> None:
    """Precision against recall (figure 5): recall can only fall."""
    train, test = sample
    ner = Recognizer("multilabel", features="mcdonald", trainer=Auto(max_iter=2)).fit(train)
    last: list[set[Mention]] | None = None
    for threshold in (-1.0, 0.0, 0.5, 2.0, 1e6):
        found = [set(s.mentions) for s in ner.set_threshold(threshold).predict(test)]
        assert last is None or all(now <= before for now, before in zip(found, last, strict=True))
        last = found
    assert last is not None
    assert not any(last)
    ner.set_threshold(0.0).set_threshold({label: 1e6 for label in ner.labels_ if label != "PER"})
    assert {m.label for s in ner.predict(test) for m in s.mentions} == {"PER"}


def test_a_threshold_for_one_label_leaves_the_others(sample) -> None:
    ner = Recognizer("multilabel", features="mcdonald", trainer=Auto(max_iter=1)).fit(sample[0]).set_threshold(-0.3)
    ner.set_threshold({"PER": 0.5})
    assert dict(zip(ner.trained_.types, ner.trained_.thresholds, strict=True)) == {
        label: 0.5 if label == "PER" else -0.3 for label in ner.labels_
    }


def test_thresholds_are_chosen_on_development_data(sample) -> None:
    train, test = sample
    fixed, tuned, by_label = (
        Recognizer(Multilabel(threshold=how), features="mcdonald", trainer=Auto(max_iter=2)).fit(train, dev=test)
        for how in (0.0, "global", "label")
    )
    assert set(fixed.trained_.thresholds) == {0.0}
    assert len(set(tuned.trained_.thresholds)) == 1
    assert len(set(by_label.trained_.thresholds)) > 1
    assert fixed.score(test).f1 <= tuned.score(test).f1 <= by_label.score(test).f1


def test_restrictions_come_from_the_data(sample) -> None:
    train, _ = sample
    settings = {"features": ["word"], "trainer": Auto(max_iter=1)}
    model = Recognizer("multilabel", **settings).fit(train).trained_
    assert model.restrictions == ()
    assert model.gap == max(b[0] - a[1] for s in train for m in s.mentions for a, b in pairwise(m.parts))
    flat = Sentence(list("abcde"), [Mention("PER", ((0, 2),)), Mention("PER", ((3, 4),))])
    model = Recognizer("multilabel", **settings).fit([flat]).trained_
    assert model.restrictions == ("contiguous", "no_overlap", "no_embedding", "no_self_embedding")
    assert model.gap == 0


def test_restrictions_hold_in_what_is_found(sample) -> None:
    train, test = sample
    for name, forbidden in (("no_overlap", Mention.overlaps), ("no_embedding", Mention.contains)):
        ner = Recognizer(Multilabel(restrictions=[name]), features="mcdonald", trainer=Auto(max_iter=2), keep="longest")
        ner.fit(train).set_threshold(-1.0)
        assert ner.lost_
        found = [s.mentions for s in ner.predict(test)]
        assert any(len(mentions) > 1 for mentions in found)
        for mentions in found:
            assert not any(forbidden(a, b) for a in mentions for b in mentions if a is not b)


def test_what_was_asked_for_must_fit() -> None:
    with pytest.raises(EncodingError, match="gap of 2 tokens, and at most 1 were asked for"):
        Recognizer(Multilabel(max_gap=1)).fit([NEWS])
    with pytest.raises(EncodingError, match="breaks the restriction 'no_overlap' with mention"):
        Recognizer(Multilabel(restrictions=["no_overlap"])).fit([NEWS])
    ner = Recognizer(Multilabel(max_gap=1), trainer=Auto(max_iter=1), keep="longest").fit([NEWS])
    assert [m.parts for _, m in ner.lost_] == [((0, 1), (3, 4))]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 0}, "'k' parameter"),
        ({"max_gap": -1}, "'max_gap' parameter"),
        ({"restrictions": "flat"}, "'restrictions' parameter must be one of auto"),
        ({"restrictions": ["flat"]}, "contiguous, no_overlap, no_embedding"),
        ({"threshold": "best"}, "global, label"),
        ({"threshold": {"XX": 1.0}}, "no label 'XX'"),
        ({"threshold": math.nan}, "finite"),
        ({"trainer": "lbfgs"}, "mira, perceptron, loglinear"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        configure({"model": "multilabel", **settings}).fit([NEWS])


def test_other_models_have_no_threshold_and_leave_pair_templates_aside() -> None:
    flat = NEWS.with_mentions([NEWS.mentions[2]])
    ner = Recognizer("chain", features=TEMPLATES, trainer=Auto(max_iter=5)).fit([flat])
    assert ner.extractor_.names() != []
    with pytest.raises(ParameterError, match="has no threshold"):
        ner.set_threshold(1.0)
    with pytest.raises(ParameterError, match="looks at tokens"):
        FeatureExtractor(FeatureSet(["distance"]))


def test_sequences_of_more_than_twelve_tokens_are_no_feature() -> None:
    """Of 15 tokens, the whole step has 15, what is between 13; of 13 tokens, what is between has 11."""
    for n, expected in ((15, set()), (14, {"between"}), (12, {"between", "left..right"})):
        words = [f"w{i}" for i in range(n)]
        sentence = Sentence(words, [Mention("X", ((0, 1), (n - 1, n)))])
        templates = ["word", "segment(word)[between]", "segment(word)[left..right]"]
        finder = (
            Recognizer(Multilabel(k=1), features=templates, trainer=Auto(max_iter=1)).fit([sentence]).trained_._finder
        )
        names = [finder.pair_feature(i) for i in range(finder.pair_features)]
        whole = {"between": " ".join(words[1:-1]), "left..right": " ".join(words)}
        assert {side for side, text in whole.items() if f"segment(word)[{side}]={text}" in names} == expected


def test_every_weight_can_be_looked_at() -> None:
    """A column for each role of a token, for skips and for distances, of each label; names are those of features."""
    ner = Recognizer("multilabel", features=TEMPLATES, trainer=Auto(max_iter=5)).fit([NEWS])
    model = ner.trained_
    assert isinstance(model, Subsets)
    columns = {column.name: column for column in model.weight_columns()}
    assert columns.keys() == {f"{label} {role}" for label in ("PER", "LOC") for role in (*ROLES, "skip", "distance")}
    skip = columns["PER skip"]
    named = {skip.feature(i): float(w) for i, w in enumerate(skip.weights)}
    assert named["segment(word)[left..right]=Bill and Hilary Clinton"] > 0
    assert len(columns["LOC distance"].weights) == len(RANGES)
    assert columns["LOC distance"].feature(4) == "6..7"
    total = model.weights.tokens.size + model.weights.pairs.size + model.weights.distances.size
    assert sum(column.weights.size for column in columns.values()) == total


def coordination(first: str, second: str, noun: str, found: bool = True) -> Sentence:
    """ "first and second noun": two mentions if elliptic, else the second alone."""
    mentions = [Mention("cell", ((0, 1), (3, 4))), Mention("cell", ((2, 4),))]
    return Sentence([first, "and", second, noun, "grew"], mentions if found else mentions[1:])


def test_rescoring_is_learned_by_cross_fitting_and_kept_in_the_file(tmp_path: Path) -> None:
    """Each half of the sentences is looked at by a model of the other half."""
    train = [coordination(a, b, "cells") for a, b in (("T", "B"), ("B", "NK"), ("NK", "T"))]
    train += [coordination("mice", "B", "cells", False), coordination("rats", "T", "cells", False)]
    train += train
    dev = [
        coordination("T", "NK", "lines"),
        coordination("B", "T", "clones"),
        coordination("cats", "T", "cells", False),
    ]
    features = ["bias", "word[-1..1]", "distance", "word[between]"]
    ner = Recognizer(Multilabel(rescore=True), features=features, trainer=LogLinear(max_iter=4))
    ner.fit(train, dev=dev)
    model = ner.trained_
    assert isinstance(model, Subsets)
    assert model.rescoring is not None
    ner.save(tmp_path / "m.loom")
    back = Recognizer.load(tmp_path / "m.loom")
    assert back.trained_.rescoring == model.rescoring
    text = [Sentence(s.tokens) for s in (*dev, *train)]
    found = ner.predict(text)
    assert [[(m, m.prob) for m in s.mentions] for s in back.predict(text)] == [
        [(m, m.prob) for m in s.mentions] for s in found
    ]
    assert any(m.discontinuous and m.prob is not None for s in found for m in s.mentions)
    # A higher threshold still finds a part of what a lower one finds.
    fewer = ner.set_threshold(1.0).predict(text)
    assert all(set(a.mentions) <= set(b.mentions) for a, b in zip(fewer, found, strict=True))
    arrays, header = ner.state()
    with pytest.raises(ModelFileError, match="multilabel"):
        Recognizer.from_state(arrays, {**header, "model": {**header["model"], "company": {"weights": {}}}})
    alone = Recognizer(Multilabel(rescore=True), features=features, trainer=Auto(max_iter=4)).fit(train)
    assert alone.trained_.rescoring is not None, "no development data are needed"


def test_restrictions_count_after_the_second_look(sample) -> None:
    train, test = sample
    model = Multilabel(restrictions=["no_self_embedding"], rescore=True)
    ner = Recognizer(model, features="mcdonald", trainer=Auto(max_iter=3), keep="longest").fit(train[:60], dev=test)
    assert ner.trained_.rescoring is not None
    assert ner.training_["lost"] == 0, "learning holds everything"
    assert 0 < ner.training_["misread"] == len(ner.lost_), "tagging finds one of two that may not stand together"
    for sentence in ner.set_threshold(-2.0).predict(test):
        pairs = [(a, b) for a in sentence.mentions for b in sentence.mentions if a is not b and a.label == b.label]
        assert not any(a.contains(b) for a, b in pairs)


def test_candidates_and_k_best() -> None:
    ner = Recognizer(Multilabel(restrictions=[]), features="mcdonald", trainer=Auto(max_iter=5)).fit([NEWS])
    (candidates,) = ner.trained_.candidates([NEWS], 7)
    scores = [score for score, _ in candidates]
    assert len(candidates) == 7
    assert scores == sorted(scores, reverse=True)
    # Every candidate for itself: the second best set is without, or with, the one that is nearest to even odds.
    (candidates,) = ner.trained_.candidates([NEWS])
    odds = sorted(abs(score) for score, _ in candidates)
    first = math.prod(1 / (1 + math.exp(-score)) for score in odds)
    best = ner.k_best(NEWS, 2)
    assert [p for p, _ in best] == pytest.approx([first, first * math.exp(-odds[0])])
    assert set(best[0][1]) == set(ner.predict(NEWS).mentions)
    assert len(set(best[0][1]) ^ set(best[1][1])) == 1


def test_empty_sentences_and_documents() -> None:
    ner = Recognizer("multilabel", features="mcdonald", trainer=Auto(max_iter=2)).fit(
        [NEWS, Sentence([], [], {"pos": []})]
    )
    assert ner.predict(Document([Sentence([], [], {"pos": []})])).mentions == []
    assert ner.predict([]) == []
