"""The maximum-entropy Markov model against brute force: the definition, label by label, over all sequences."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from oracles import finite_differences
from spanloom import Mention, Recognizer, Sentence, read
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.configuration import configure
from spanloom.learning import LBFGS, Auto
from spanloom.models import Memm


def sentence(text, *mentions):
    return Sentence(text.split(), [Mention(label, (part,)) for label, part in mentions])


TRAIN = [
    sentence("the lacZ gene works", ("DNA", (1, 3))),
    sentence("a p53 gene", ("DNA", (1, 3))),
    sentence("p53 binds p53", ("protein", (0, 1)), ("protein", (2, 3))),
    sentence("nothing here"),
    sentence("works"),
]
NEW = [sentence("the p53 gene"), sentence("a lacZ"), sentence("p53 p53 works"), sentence("gene")]
FEATURES = ["word[0]", "word[-1]"]


def fit(**settings):
    return configure({"model": "memm", "features": FEATURES, "l2": 0.05, "max_iter": 60, **settings}).fit(TRAIN)


def by_definition(ner, given, labels):
    """log p(labels), one softmax a token: features of the token, of the label before, and of the two before."""
    model = ner.trained_
    size = model.size
    rows = model.extractor.transform([given])
    pairs = {int(code): k for k, code in enumerate(model.pairs)}
    total = 0.0
    for t, y in enumerate(labels):
        one = labels[t - 1] if t >= 1 else size
        two = labels[t - 2] if t >= 2 else size
        scores = model.features[rows.ids[rows.row_ptr[t] : rows.row_ptr[t + 1]]].sum(0).astype(float)
        scores = scores + model.histories[one]
        if model.model.order == 2 and two * (size + 1) + one in pairs:
            scores = scores + model.histories[size + 1 + pairs[two * (size + 1) + one]]
        if given.tokens[t] in model.words:
            allowed = model.words[given.tokens[t]]
            scores = np.where(np.isin(np.arange(size), allowed), scores, -np.inf)
        total += scores[y] - math.log(np.exp(scores).sum())
    return total


@pytest.mark.parametrize("settings", [{"order": 1}, {"order": 2}, {"scheme": "IOB2", "dictionary": 2}])
def test_probabilities_sum_to_one_and_viterbi_is_the_best_of_all(settings):
    """Over all label sequences; the trellis on the engine has Z = 1 and gives each sequence its probability."""
    ner = fit(constrained=False, **settings)
    model = ner.trained_
    for given in NEW:
        listed = {
            labels: by_definition(ner, given, labels)
            for labels in itertools.product(range(model.size), repeat=len(given))
        }
        assert math.fsum(map(math.exp, listed.values())) == pytest.approx(1)
        structure, transitions = model.trellis()
        scores = np.concatenate([model.state_scores(model.local_scores([given])).ravel(), transitions])
        graph = structure.graph(len(given))
        assert graph.log_partition(scores) == pytest.approx(0, abs=1e-9)
        best = max(listed, key=lambda labels: listed[labels])
        score, _ = graph.best(scores)
        assert score == pytest.approx(listed[best])
        assert ner.predict(given).mentions == model.segments.decode(best)


@pytest.mark.parametrize("order", [1, 2])
def test_legal_sequences_only(order):
    """Constrained: the best of the legal sequences, though training knows no law."""
    ner = fit(order=order, l2=5.0, scheme="IOBES")
    model = ner.trained_
    for given in NEW:
        legal = [
            labels
            for labels in itertools.product(range(model.size), repeat=len(given))
            if not model.segments.illegal(labels)
        ]
        best = max(legal, key=lambda labels: by_definition(ner, given, labels))
        assert ner.predict(given).mentions == model.segments.decode(best)


@pytest.mark.parametrize("constrained", [False, True])
def test_k_best_sets_have_their_probabilities(constrained):
    """Against all label sequences, the legal ones if only these may be; sequences that read alike add up."""
    ner = fit(constrained=constrained, scheme="IOB2")
    segments = ner.trained_.segments
    for given in NEW:
        wanted = {}
        for labels in itertools.product(range(ner.trained_.size), repeat=len(given)):
            if not (constrained and segments.illegal(labels)):
                key = frozenset(segments.decode(labels))
                wanted[key] = wanted.get(key, 0) + math.exp(by_definition(ner, given, labels))
        total = sum(wanted.values())
        found = ner.k_best(given, 10_000)
        assert {frozenset(mentions): p for p, mentions in found} == pytest.approx(
            {k: p / total for k, p in wanted.items()}
        )


def test_training_finds_the_maximum_of_the_conditional_likelihood():
    """The gradient of the regularised likelihood, from the definition, vanishes at the weights that were learned."""
    ner = fit(order=2, max_iter=400, tol=0.0, l2=0.3)
    model = ner.trained_
    gold = [tuple(model.segments.encode(s.mentions, len(s)).tolist()) for s in TRAIN]
    kept = model.features, model.histories

    def objective(x):
        count = kept[0].size
        model.features = x[:count].reshape(kept[0].shape)
        model.histories = x[count:].reshape(kept[1].shape)
        return 0.3 * (x**2).sum() - sum(by_definition(ner, s, y) for s, y in zip(TRAIN, gold, strict=True))

    x = np.concatenate([kept[0].ravel(), kept[1].ravel()]).astype(float)
    try:
        gradient = finite_differences(objective, x, 1e-4)
    finally:
        model.features, model.histories = kept
    assert np.abs(gradient).max() < 2e-3


@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_beam_is_that_of_the_definition(width):
    """Keep the best states at every token: the last two labels where that pair was seen, else the last label."""
    ner = fit(order=2, l2=5.0, constrained=False, beam=width)
    model, size = ner.trained_, ner.trained_.size
    seen = set(model.pairs.tolist())
    for given in NEW:
        kept = [()]
        for _ in given.tokens:
            ways = {}
            for labels in ((*before, y) for before in kept for y in range(size)):
                two = (labels[-2] if len(labels) > 1 else size) * (size + 1) + labels[-1]
                state = two if two in seen else labels[-1]
                ways[state] = max(ways.get(state, labels), labels, key=lambda own: by_definition(ner, given, own))
            kept = sorted(ways.values(), key=lambda own: -by_definition(ner, given, own))[:width]
        assert ner.predict(given).mentions == model.segments.decode(kept[0])


def test_a_beam_that_ends_nowhere_is_given_up():
    """One state at a time runs into sequences that IOBES does not let end: the exact search takes over."""
    exact, narrow = fit(l2=5.0), fit(l2=5.0, beam=1)
    texts = [Sentence(list(words)) for words in itertools.product(["the", "p53", "gene", "works"], repeat=3)]
    assert all(
        not narrow.trained_.segments.illegal(narrow.trained_.segments.encode(s.mentions, 3))
        for s in narrow.predict(texts)
    )
    wide = fit(l2=5.0, beam=1000)
    assert wide.predict(texts) == exact.predict(texts)


def test_what_comes_later_does_not_change_an_early_choice():
    """The label bias: `r i b` is A three times, `r o b` is B twice; `r` alone decides, 3 to 2, whatever follows."""
    data = [sentence("r i b", ("A", (0, 3)))] * 3 + [sentence("r o b", ("B", (0, 3)))] * 2
    ner = Recognizer(
        Memm(order=1, scheme="IO", constrained=False), features=["word"], trainer=LBFGS(l2=1e-4, max_iter=200)
    )
    model = ner.fit(data).trained_
    labels = list(model.segments.labels)
    for given in (data[0], data[-1]):
        structure, transitions = model.trellis()
        scores = np.concatenate([model.state_scores(model.local_scores([given])).ravel(), transitions])
        _, uses = structure.graph(3).expectations(scores)
        assert uses[labels.index("I-A")] == pytest.approx(0.6, abs=0.01)
        assert uses[labels.index("I-B")] == pytest.approx(0.4, abs=0.01)


def test_a_dictionary_that_leaves_nothing_is_not_applied():
    """`gene` was always the end of a mention and `the` always outside: together they leave no legal sequence."""
    ner = fit(dictionary=1)
    assert ner.trained_.words["the"] == [ner.trained_.segments.labels.index("O")]
    assert isinstance(ner.predict(sentence("the gene")).mentions, list)
    assert ner.predict(TRAIN[0]).mentions == TRAIN[0].mentions


@pytest.mark.parametrize("text", ["the gene", "a the gene works"])
def test_beliefs_do_without_such_a_dictionary_too(text):
    """Probabilities are those of all legal sequences without the dictionary, by enumeration, also among others."""
    ner, given = fit(dictionary=1), sentence(text)
    believed, several = ner.distribution(given), [TRAIN[0], given, TRAIN[1]]
    judged = ner.predict([s.with_mentions([]) for s in several], probabilities=True)[1]
    words, ner.trained_.words = ner.trained_.words, {}
    segments = ner.trained_.segments
    every = range(len(segments.labels))
    probs: dict[tuple[Mention, ...], float] = {}
    for labels in itertools.product(every, repeat=len(given)):
        legal = all(segments.allowed(a, b) for a, b in itertools.pairwise(labels))
        if legal and segments.may_start(labels[0]) and segments.may_end(labels[-1]):
            found = tuple(segments.decode(np.array(labels, np.int32)))
            probs[found] = probs.get(found, 0.0) + math.exp(by_definition(ner, given, labels))
    ner.trained_.words = words
    total = sum(probs.values())
    assert believed.log_z == pytest.approx(math.log(total))
    best = max(probs, key=probs.__getitem__)
    (prob, mentions), *_ = believed.k_best(1)
    assert tuple(mentions) == best
    assert prob == pytest.approx(probs[best] / total)
    for mention in {m for found in probs for m in found}:
        expected = sum(p for found, p in probs.items() if mention in found) / total
        assert believed.prob(mention) == pytest.approx(expected)
        if mention in judged.mentions:
            assert next(m for m in judged.mentions if m == mention).prob == pytest.approx(expected)


def test_several_representations_stay_those_of_the_model():
    """Cross-fitting trains the model again: it must not forget what its settings were."""
    assert fit(scheme="BIES+").model_.scheme == "BIES+"


@pytest.mark.parametrize("settings", [{"order": 1}, {"order": 2, "dictionary": 2}, {"scheme": "BIES+", "beam": 2}])
def test_the_file_holds_everything(settings, tmp_path):
    ner = fit(**settings)
    ner.save(tmp_path / "m.loom")
    again = Recognizer.load(tmp_path / "m.loom")
    assert again.predict(TRAIN + NEW) == ner.predict(TRAIN + NEW)
    again.save(tmp_path / "again.loom")
    assert (tmp_path / "m.loom").read_bytes() == (tmp_path / "again.loom").read_bytes()


def test_damaged_files_are_named():
    arrays, header = fit().state()
    with pytest.raises(ModelFileError, match="pairs of labels are damaged"):
        Recognizer.from_state({**arrays, "model.pairs": arrays["model.pairs"] + 10**6}, header)
    with pytest.raises(ModelFileError, match="do not fit"):
        Recognizer.from_state({**arrays, "model.histories": arrays["model.histories"][1:]}, header)


def test_it_learns_the_sample_and_its_edges():
    train = list(read("sample:train"))
    ner = Recognizer("memm", trainer=Auto(max_iter=60), keep="longest").fit(train, dev=read("sample:dev"))
    assert ner.score(read("sample:test")).precision > 0.8
    assert ner.predict("").sentences == []
    assert ner.predict(Sentence([])).mentions == []
    assert len(ner.predict(Sentence(["gene"] * 3000))) == 3000


def test_order_is_one_or_two():
    with pytest.raises(ParameterError, match="'beam' parameter must be an integer of at least 1"):
        fit(beam=0)
    with pytest.raises(ParameterError, match="'order' parameter must be one of 1, 2"):
        fit(order=3)


def test_empty_sentences_have_a_distribution():
    ner = fit()
    assert ner.predict(Sentence([]), probabilities=True).mentions == []
    assert ner.distribution(Sentence([])).k_best(2) == [(1.0, [])]


def test_unknown_tokens_make_no_rule_of_the_dictionary():
    """A word that is annotated nowhere is not forbidden to be a mention."""
    from spanloom.corpus import Known

    part = Sentence(["zyx", "x"], [], known=Known(ranges=((1, 2),)))
    ner = Recognizer(Memm(dictionary=2), features=["word"], trainer=LBFGS(max_iter=3)).fit([*TRAIN, part, part])
    assert "zyx" not in ner.trained_.words
