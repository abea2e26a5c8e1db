"""Probabilities of found mentions, at the level of recognisers: against enumeration, and alike for every model."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from oracles import Believed, chain_structures, separator_structures
from spanloom import Document, Mention, Recognizer, Sentence, read
from spanloom.base.errors import ParameterError
from spanloom.cli.app import app
from spanloom.decisions import Best
from spanloom.learning import Auto, Perceptron
from spanloom.models import (
    Cascade,
    Chain,
    Chains,
    Edge,
    Hypergraph,
    Joined,
    Layered,
    Memm,
    Model,
    Multilabel,
    SemiMarkov,
    Spans,
    State,
    Tagger,
)
from spanloom.schemes.separators import decode_separators

TOY = [
    Sentence(["the", "lacZ", "gene"], [Mention("DNA", ((1, 3),)), Mention("protein", ((1, 2),))]),
    Sentence(["a", "p53", "gene", "works"], [Mention("DNA", ((1, 3),))]),
    Sentence(["p53", "works"], [Mention("protein", ((0, 1),))]),
    Sentence(["nothing", "here"]),
]
TEXT = [Sentence(["the", "p53", "gene"]), Sentence(["lacZ"]), Sentence(["a", "gene", "p53"]), Sentence(["here"])]
MODELS = [
    *(Chain(), Chain("BI", constrained=False), Chains(), Memm(order=1), Memm(constrained=False), Edge(), State()),
    *(Hypergraph(), SemiMarkov(), Spans(), Multilabel(), Layered(), Cascade(), Cascade(base=Memm(order=1)), Joined()),
]


def trained(model: Model | str, **settings: object) -> Recognizer:
    settings = {"trainer": Auto(max_iter=6), "keep": "longest", **settings}
    return Recognizer(model, features=["word[0]", "word[-1]"], **settings).fit(TOY)


def component_scores(ner: Recognizer, sentence: Sentence, number: int) -> np.ndarray:
    """w · f for every site and column, added up from the weights."""
    rows, weights = ner.extractor_.transform([sentence]), ner.trained_.weights[number]
    bounds = zip(rows.row_ptr[:-1], rows.row_ptr[1:], strict=True)
    return np.array([weights.features[rows.ids[a:b]].astype(float).sum(0) for a, b in bounds])


def enumerated(ner: Recognizer, sentence: Sentence) -> dict[Mention, float]:
    """The probability of every mention, from the list of all structures of each component."""
    found: dict[Mention, float] = {}
    for number, component in enumerate(ner.trained_.components):
        scores = component_scores(ner, sentence, number)
        pairs = ner.trained_.weights[number].globals
        if ner.model_.name == "edge":
            sets = [
                (s, frozenset(Mention(component.type, (part,)) for part in decode_separators([c % 8 for c in cells])))
                for s, cells in separator_structures(scores, np.zeros((8, 8)))
                for cells in [cells[: len(scores)]]
            ]
        else:
            segments, size = component.segments, len(component.columns)
            law = segments.allowed, segments.may_start, segments.may_end
            listed = chain_structures(scores, pairs.reshape(size, size), *law)
            sets = [(s, frozenset(segments.decode([c % size for c in cells[: len(scores)]]))) for s, cells in listed]
        believed = Believed(sets)
        found |= {mention: believed.prob(mention) for mention in believed.mentions()}
    return found


@pytest.mark.parametrize("model", [Chain(), Edge()], ids=repr)
@pytest.mark.parametrize("above", [0.02, 0.2, 0.6])
def test_probabilities_are_sums_over_all_structures(model, above):
    """``prob`` of found mentions, and every mention above a probability, the best answer or not."""
    ner = trained(model)
    for sentence in TEXT:
        probs = enumerated(ner, sentence)
        for mention in ner.predict(sentence, probabilities=True).mentions:
            assert mention.prob == pytest.approx(probs[mention], abs=1e-6)
        found = ner.predict(sentence, above=above).mentions
        assert {m: m.prob for m in found} == pytest.approx({m: p for m, p in probs.items() if p >= above}, abs=1e-6)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_every_model_gives_the_probabilities_of_its_distribution(model):
    """In batches as one by one; the mentions are those that are found without."""
    ner = trained(model)
    given = ner.predict(TEXT, probabilities=True)
    assert given == ner.predict(TEXT)
    assert any(sentence.mentions for sentence in given)
    for sentence, above in zip(given, ner.predict(TEXT, above=0.1), strict=True):
        belief = ner.distribution(sentence)
        assert [m.prob for m in sentence.mentions] == pytest.approx([belief.prob(m) for m in sentence.mentions])
        assert above.mentions == belief.mentions(0.1)


@pytest.mark.parametrize("model", ["chain", "edge"])
def test_a_mention_penalty_does_not_count(model):
    """More mentions are found, with the probabilities that the model without penalty gives them."""
    ner, eager = trained(model), trained(model, decide=Best(2.0))
    found = eager.predict(TEXT, probabilities=True)
    assert sum(len(s.mentions) for s in found) > sum(len(s.mentions) for s in ner.predict(TEXT))
    for sentence in found:
        belief = ner.distribution(sentence)
        assert [m.prob for m in sentence.mentions] == pytest.approx([belief.prob(m) for m in sentence.mentions])


@pytest.mark.parametrize(
    ("model", "trainer", "meta"),
    [
        ("edge", Auto(max_iter=3), None),
        ("edge", Perceptron(max_iter=3), "scores"),
        ("multilabel", Auto(max_iter=3), "scores"),
        ("layered", Auto(max_iter=3), "parts"),
        ("joined", Auto(max_iter=3), "bound"),
    ],
)
def test_documents_say_where_probabilities_are_not_exact(model, trainer, meta):
    ner, doc = trained(model, trainer=trainer), Document(TEXT, meta={"genre": "news"})
    marked = {"genre": "news"} | ({"probabilities": meta} if meta else {})
    assert ner.predict(doc, probabilities=True).meta == marked
    assert ner.predict(doc, probabilities=False).meta == doc.meta == {"genre": "news"}
    assert ner.predict(doc).meta == doc.meta


def test_repaired_mentions_have_the_probability_of_what_they_are():
    ner = trained("chain", repairs=["parentheses"])
    for sentence in ner.predict([Sentence(["(", "p53", ")", "gene"])], probabilities=True):
        belief = ner.distribution(sentence)
        assert [m.prob for m in sentence.mentions] == pytest.approx([belief.prob(m) for m in sentence.mentions])


def test_marginals_and_samples():
    """Marginals of a chain add up to 1 at each token; samples come as often as they are probable."""
    ner = trained("chain")
    found = ner.marginals(TEXT[0])
    assert found.probs.shape == (3, len(found.names))
    assert found.probs.sum(axis=1) == pytest.approx([1.0] * 3)
    draws = ner.sample(TEXT[0], 4000)
    (p, best), *_ = ner.k_best(TEXT[0], 1)
    assert sum(one == best for one in draws) / 4000 == pytest.approx(p, abs=5 * (p * (1 - p) / 4000) ** 0.5)


def test_what_makes_no_sense_is_refused():
    for above in (0, 1.5, "much", True):
        with pytest.raises(ParameterError, match="'above' parameter must be a number above 0 and at most 1"):
            trained("chain").predict(TEXT, above=above)
    with pytest.raises(ParameterError, match="every token a value"):
        Recognizer(Tagger("pos"), decide="f1").fit(read("sample:train"))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "a.loom"
    trained("edge").save(path)
    return path


def tag(model, *options: str) -> dict:
    done = CliRunner().invoke(app, ["tag", str(model), *options], input="the p53 gene\n")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_tag_writes_probabilities_and_the_best_sets(model):
    """What the options write is what the recogniser says."""
    ner, sentence = Recognizer.load(model), TEXT[0]
    assert all("prob" not in m for m in tag(model, "--no-probabilities")["mentions"])
    wanted = ner.predict(sentence, probabilities=True).mentions
    for options in ([], ["--probabilities"]):
        assert [m["prob"] for m in tag(model, *options)["mentions"]] == pytest.approx([m.prob for m in wanted])
    wanted = ner.predict(sentence, above=0.05).mentions
    assert len(wanted) > len(ner.predict(sentence).mentions)
    assert [m["prob"] for m in tag(model, "--above", "0.05")["mentions"]] == pytest.approx([m.prob for m in wanted])
    (sets,) = tag(model, "--k", "3")["k_best"]
    best = ner.k_best(sentence, 3)
    assert [one["prob"] for one in sets] == pytest.approx([p for p, _ in best])
    assert [[(m["label"], m["parts"]) for m in one["mentions"]] for one in sets] == [
        [(m.label, [list(part) for part in m.parts]) for m in own] for _, own in best
    ]


def test_probabilities_are_given_by_default_where_they_are_quick_and_meant():
    """Not where structures are listed, parts asked one by one, or margins are scores; always if they are asked for."""
    sentence = TEXT[0]
    for model, given in (("chain", True), ("multilabel", False), ("layered", False), ("joined", False)):
        ner = trained(model, trainer=Auto(max_iter=3))
        assert ner.gives_probabilities() == given
        assert all((m.prob is not None) == given for m in ner.predict(sentence).mentions)
        assert ner.gives_probabilities(True)
        assert ner.gives_probabilities(above=0.5)
        assert not ner.gives_probabilities(False)
        assert all(m.prob is None for m in ner.predict(sentence, probabilities=False).mentions)


@pytest.mark.parametrize(("form", "there"), [("jsonl", True), ("prodigy", True), ("conll", False), ("pubtator", False)])
def test_tag_asks_for_probabilities_where_the_format_holds_them(model, form, there, tmp_path):
    """And says nothing of them where it does not."""
    out = tmp_path / "out.txt"
    given = ["tag", str(model), "-o", f"{form}:{out}{'?lossy=longest' if form == 'conll' else ''}"]
    done = CliRunner().invoke(app, given, input="the p53 gene\n")
    assert done.exit_code == 0, done.output
    assert (re.search(r"0\.\d{3,}", out.read_text()) is not None) == there
    assert "probabilities" not in done.output


def test_evaluate_says_whether_probabilities_can_be_believed(model, tmp_path):
    """JSON has the calibration of a model, and none where that is not wanted."""
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(json.dumps({"tokens": s.tokens, "mentions": []}) + "\n" for s in TEXT))
    for options, there in (([], True), (["--no-probabilities"], False)):
        done = CliRunner().invoke(app, ["evaluate", str(model), str(gold), "--json", *options])
        assert done.exit_code == 0, done.output
        assert (json.loads(done.stdout)["calibration"] is not None) == there
