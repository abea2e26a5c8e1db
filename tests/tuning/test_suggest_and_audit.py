"""What to annotate next, and annotation errors."""

from __future__ import annotations

import json
import math
import random

import pytest
from typer.testing import CliRunner

from spanloom import Document, Mention, Recognizer, Sentence, write
from spanloom.base.errors import ParameterError
from spanloom.cli.app import app
from spanloom.inference import Independent
from spanloom.learning import LBFGS
from spanloom.models import Edge, Spans
from spanloom.tuning import audit, suggest
from spanloom.tuning.audit import _suspects
from spanloom.tuning.odds import Odds, Rates, against, alone, examples
from spanloom.tuning.suggest import diverse, margin, per_token

WORDS = {"DNA": ["lacZ", "p53", "sonic", "BRCA1"], "protein": ["IL-2", "NF-AT", "TCF-1", "CD28"]}


def toy(count: int, seed: int = 1) -> list[Document]:
    """Documents of two sentences whose mentions anybody can find."""
    draw = random.Random(seed)
    made = []
    for i in range(count):
        dna, protein = draw.choice(WORDS["DNA"]), draw.choice(WORDS["protein"])
        first = Sentence(["the", dna, "gene", "binds"], [Mention("DNA", ((1, 3),))])
        second = Sentence(["we", "saw", protein, "protein", "there"], [Mention("protein", ((2, 4),))])
        made.append(Document([first, second], f"d{i}"))
    return made


def plant(documents: list[Document], number: int, mentions: list[Mention]) -> list[Document]:
    """The documents, one of which has other mentions in its first sentence."""
    document = documents[number]
    spoilt = document.with_sentences([document.sentences[0].with_mentions(mentions), *document.sentences[1:]])
    return [*documents[:number], spoilt, *documents[number + 1 :]]


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        ([], "missing"),
        ([Mention("protein", ((1, 3),))], "label"),
        ([Mention("DNA", ((1, 2),))], "border"),
        ([Mention("DNA", ((1, 3),)), Mention("DNA", ((3, 4),))], "extra"),
    ],
)
@pytest.mark.parametrize("model", ["edge", "chain"])
def test_a_planted_error_comes_first(model: str, wrong: list[Mention], kind: str) -> None:
    corpus = plant(toy(20), 7, wrong)
    found = audit(corpus, settings={"model": model, "max_iter": 40}, folds=4, threads=1)
    first = found.suspects[0]
    assert (first.document, first.number, first.kind) == ("d7", 0, kind)
    assert [s.suspicion for s in found.suspects] == sorted((s.suspicion for s in found.suspects), reverse=True)
    assert found.judged == sum(len(s.mentions) for d in corpus for s in d.sentences)


def test_the_judge_has_not_seen_the_document() -> None:
    """A mention that only its own document has is not known to the model that judges it."""
    corpus = toy(8)
    odd = Sentence(["unheard", "of", "words"], [Mention("DNA", ((0, 3),))])
    corpus = [*corpus, Document([odd], "odd")]
    found = audit(corpus, settings={"model": "edge", "features": ["word[-1..0]"]}, folds=3, threads=1)
    (one,) = [s for s in found.suspects if s.document == "odd" and s.gold is not None]
    assert one.gold is not None
    assert one.gold.prob is not None
    assert one.gold.prob < 0.5
    seen = Recognizer(Edge(), features=["word[-1..0]"], threads=1).fit(corpus)
    assert seen.distribution(odd).prob(odd.mentions[0]) > 0.5


def test_mentions_that_the_model_cannot_hold_are_not_judged() -> None:
    corpus = toy(8)
    both = [Mention("DNA", ((1, 3),)), Mention("protein", ((1, 2),))]
    found = audit(plant(corpus, 2, both), settings={"model": "chain"}, folds=2, threads=1)
    assert found.unheld == 1
    with pytest.raises(ParameterError, match="at least 2"):
        audit(corpus, folds=1)


def test_suspects_by_hand() -> None:
    """Of each kind one: DNA at 0 is rather RNA, DNA at 2 is missing, DNA at 1 is nothing."""
    a, b, c = (Mention(label, ((i, i + 1),), p) for label, i, p in (("DNA", 0, 0.2), ("RNA", 0, 0.9), ("DNA", 2, 0.6)))
    gold = Mention("DNA", ((1, 2),), 0.25)
    sentence = Sentence(["x", "y", "z"], [a, gold])
    found = {kind: (old, new, seen) for old, new, kind, seen in _suspects(sentence, [b, c], [a, gold])}
    assert found["label"] == (a, b, pytest.approx((math.log(9), math.log(4), 1.0)))
    assert found["missing"] == (None, c, pytest.approx((math.log(1.5), 0, 0, 0, 0, 0, 1)))
    assert found["extra"] == (gold, None, pytest.approx((-math.log(3),)))
    assert len(found) == 3


def test_examples_are_errors_in_what_is_annotated() -> None:
    """A mention of two tokens, dropped, with the other label, and with each border moved; RNA is likely there."""
    dna, rna = Mention("DNA", ((0, 2),), 0.75), Mention("RNA", ((0, 2),), 0.3)
    found = list(examples([dna], [dna], {dna: 0.75, rna: 0.3}, ["DNA", "RNA"], 3))
    assert [kind for kind, _ in found] == ["missing", "label", "border", "border", "border"]  # it cannot start earlier
    assert found[0][1] == pytest.approx((math.log(3), 0, 0, 0, 0, 0, 1))
    assert found[1][1] == pytest.approx((math.log(3), math.log(7 / 3), 1))
    assert found[2][1] == pytest.approx((math.log(3), math.log(999), 1))


def test_without_data_the_odds_are_those_of_the_rates() -> None:
    odds = Odds.learned({}, {}, Rates(missing=0.05, label=0.025, border=0.005, extra=0.001))
    c = Mention("DNA", ((2, 3),), 0.6)
    assert odds("missing", alone(c, [])) == pytest.approx(math.log(0.05 * 0.6 / 0.4))
    assert odds("label", against(0.9, 0.2)) == pytest.approx(math.log(0.025 * 9 * 4))
    assert odds("border", against(0.9, 0.2)) == pytest.approx(math.log(0.005 * 9 * 4))


def test_odds_are_learned() -> None:
    """Examples and suspects alike everywhere, a tenth of the weight: a tenth. Inside another there are none."""
    draw = random.Random(3)
    probs = [draw.uniform(0.2, 0.95) for _ in range(4000)]
    outer = Mention("DNA", ((0, 5),))
    free = [alone(Mention("DNA", ((7, 8),), p), [outer]) for p in probs]
    within = [alone(Mention("DNA", ((1, 2),), p), [outer]) for p in probs]
    odds = Odds.learned({"missing": free}, {"missing": [*free, *within]}, Rates(0.1, 0.1, 0.1, 0.1))
    for p in (0.3, 0.8):
        assert odds("missing", alone(Mention("DNA", ((7, 8),), p), [outer])) == pytest.approx(math.log(0.1), abs=0.1)
        assert odds("missing", alone(Mention("DNA", ((1, 2),), p), [outer])) < -5


def entropy(p: float) -> float:
    return -p * math.log(p) - (1 - p) * math.log(1 - p)


def test_scores_are_those_of_the_definition() -> None:
    """Two candidates with P 0.8 and 0.6: sets have 0.48, 0.32, 0.12, 0.08."""
    odds = [math.log(0.8 / 0.2), math.log(0.6 / 0.4)]
    belief = Independent([Mention("DNA", ((0, 1),)), Mention("DNA", ((1, 2),))], odds)
    assert per_token(belief, 4) == pytest.approx((entropy(0.8) + entropy(0.6)) / 4)
    assert margin(belief, 4) == pytest.approx(1 - (0.48 - 0.32))


def test_the_order_is_that_of_entropy_per_token() -> None:
    """Every candidate of ``spans`` is for itself, so that entropies are sums over its probabilities."""
    ner = Recognizer(Spans(longest=2), features=["bias", "word"], trainer=LBFGS(max_iter=5), threads=1).fit(toy(3))
    texts = ["the lacZ gene binds", "we saw nothing at all", "completely other words here", "IL-2 gene"]
    corpus = [Document([Sentence(text.split())], str(i)) for i, text in enumerate(texts)]
    expected = []
    for document in corpus:
        (sentence,) = document.sentences
        n = len(sentence)
        spans = [((a, b),) for a in range(n) for b in range(a + 1, min(a + 2, n) + 1)]
        belief = ner.distribution(sentence)
        probs = [belief.prob(Mention(label, parts)) for label in ("DNA", "protein") for parts in spans]
        expected.append(sum(map(entropy, probs)) / n)
    found = suggest(ner, corpus, 4)
    assert [s.document for s in found] == [str(i) for i in sorted(range(4), key=lambda i: -expected[i])]
    assert [s.score for s in found] == pytest.approx(sorted(expected, reverse=True))


def test_near_duplicates_are_left_out_and_the_choice_is_deterministic() -> None:
    ner = Recognizer(Edge(), trainer=LBFGS(max_iter=5), threads=1).fit(toy(3))
    corpus = [Document([Sentence(["some", "more", "text", "is", "here", str(i)])], str(i)) for i in range(5)]
    corpus += [Document([Sentence(["quite", "other", "words", "stand", "there"])], "other")]
    for way in ("entropy", "margin", "random"):
        found = suggest(ner, corpus, 6, by=way)
        assert len(found) == 2
        assert "other" in {s.document for s in found}
        assert found == suggest(ner, corpus, 6, by=way)
    assert diverse([Sentence(["a"]), Sentence(["a"]), Sentence(["b"])], 3) == [0, 2]


def test_disagreement_asks_a_second_model() -> None:
    one = Recognizer(Edge(), trainer=LBFGS(max_iter=30), threads=1).fit(toy(6))
    blind = [d.with_sentences([d.sentences[0], d.sentences[1].with_mentions([])]) for d in toy(6)]
    two = Recognizer(Edge(), trainer=LBFGS(max_iter=30), threads=1).fit(blind)
    sentences = [Sentence(["the", "p53", "gene", "binds"]), Sentence(["we", "saw", "IL-2", "protein", "there"])]
    corpus = [Document(sentences, "d")]
    first = suggest(one, corpus, 1, by="disagreement", other=two)[0]
    assert (first.number, first.score) == (1, 1.0)
    with pytest.raises(ParameterError, match="second model"):
        suggest(one, corpus, 1, by="disagreement")


def test_the_commands(tmp_path) -> None:  # type: ignore[no-untyped-def]
    corpus = plant(toy(12), 3, [])
    write(corpus, tmp_path / "c.jsonl")
    Recognizer(Edge(), trainer=LBFGS(max_iter=20), threads=1).fit(toy(6)).save(tmp_path / "m.loom")
    run = CliRunner().invoke
    names = {name: str(tmp_path / name) for name in ("c.jsonl", "m.loom", "s.jsonl", "a.jsonl", "a.html", "e.html")}
    done = run(app, ["suggest", names["m.loom"], names["c.jsonl"], "-n", "3", "-o", names["s.jsonl"]])
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert [line["meta"]["rank"] for line in lines] == list(range(1, len(lines) + 1))
    options = ["--model", "edge", "-n", "1", "--folds", "3", "-o", names["a.jsonl"], "--html", names["a.html"]]
    done = run(app, ["audit", names["c.jsonl"], *options])
    assert done.exit_code == 0, done.output
    first = json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0])
    assert (first["document"], first["kind"]) == ("d3", "missing")
    assert "http" not in (tmp_path / "a.html").read_text()
    done = run(app, ["explain", names["m.loom"], "the p53 gene binds", "--json", "--html", names["e.html"]])
    assert done.exit_code == 0, done.output
    told = json.loads(done.output.splitlines()[0])
    assert told["mention"] == {"label": "DNA", "parts": [[1, 3]], "text": "p53 gene"}
    total = sum(c["contribution"] for c in told["contributions"]) + told["others"]
    assert total == pytest.approx(told["score_difference"], abs=1e-9)
    done = run(app, ["explain", names["m.loom"], "the p53 gene binds", "--mention", "protein:0-1"])
    assert "not in most" in done.output
    done = run(app, ["explain", names["m.loom"], "the p53 gene binds", "--mention", "p53"])
    assert done.exit_code == 2
    done = run(app, ["info", names["m.loom"], "--top", "1"])
    assert "a DNA starts" in " ".join(done.output.split())
