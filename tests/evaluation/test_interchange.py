"""The numbers of an evaluation in the forms of other tools, held to the tools."""

from __future__ import annotations

import random

import pytest

from spanloom import Mention, Sentence
from spanloom.corpus.tags import to_tags
from spanloom.evaluation import evaluate
from spanloom.evaluation.interchange import to_conlleval, to_evaluate, to_nervaluate, to_seqeval

LABELS = ("LOC", "ORG", "PER")


def flat(draw: random.Random, length: int) -> list[Mention]:
    """Random mentions that share no token."""
    found, at = [], 0
    while at < length:
        at += draw.randint(0, 3)
        end = at + draw.randint(1, 3)
        if end <= length:
            found.append(Mention(draw.choice(LABELS), ((at, end),)))
        at = end
    return found


def corpus(seed: int) -> tuple[list[Sentence], list[list[Mention]]]:
    """Gold sentences, and predictions that repeat some of the gold and invent the rest."""
    draw = random.Random(seed)
    gold, predicted = [], []
    for _ in range(30):
        length = draw.randint(1, 15)
        gold.append(Sentence([f"w{i}" for i in range(length)], flat(draw, length)))
        kept = [m for m in gold[-1].mentions if draw.random() < 0.6]
        used = {t for m in kept for t in m.tokens}
        predicted.append(kept + [m for m in flat(draw, length) if not used.intersection(m.tokens)])
    return gold, predicted


def tags(mentions: list[Mention], length: int) -> list[str]:
    return to_tags([(m.label, m.start, m.end) for m in mentions], length, "IOB2")


@pytest.mark.parametrize("seed", range(5))
def test_seqeval_says_the_same(seed):
    """Every figure of ``classification_report(output_dict=True)`` in strict mode."""
    metrics = pytest.importorskip("seqeval.metrics")
    scheme = pytest.importorskip("seqeval.scheme")
    gold, predicted = corpus(seed)
    y_true = [tags(s.mentions, len(s)) for s in gold]
    y_pred = [tags(p, len(s)) for s, p in zip(gold, predicted, strict=True)]
    expected = metrics.classification_report(y_true, y_pred, output_dict=True, mode="strict", scheme=scheme.IOB2)
    found = to_seqeval(evaluate(gold, predicted))
    assert found.keys() == expected.keys()
    for name, row in expected.items():
        assert found[name] == pytest.approx({key: float(value) for key, value in row.items()})


@pytest.mark.parametrize("seed", range(5))
def test_the_dict_of_evaluate_is_made_of_seqevals_figures(seed):
    metrics = pytest.importorskip("seqeval.metrics")
    gold, predicted = corpus(seed)
    y_true = [tags(s.mentions, len(s)) for s in gold]
    y_pred = [tags(p, len(s)) for s, p in zip(gold, predicted, strict=True)]
    found = to_evaluate(evaluate(gold, predicted))
    assert found["overall_f1"] == pytest.approx(metrics.f1_score(y_true, y_pred))
    assert found["overall_accuracy"] == pytest.approx(metrics.accuracy_score(y_true, y_pred))
    assert set(found["LOC"]) == {"precision", "recall", "f1", "number"}


def test_conlleval_by_hand():
    """Fourteen tokens, two of three phrases found, and one that is none: 2 / 3 both ways, 12 of 14 tags right."""
    words = [f"w{i}" for i in range(14)]
    gold = [Mention("LOC", ((0, 2),)), Mention("PER", ((4, 5),)), Mention("PER", ((8, 9),))]
    found = [Mention("LOC", ((0, 2),)), Mention("PER", ((4, 5),)), Mention("LOC", ((12, 13),))]
    assert to_conlleval(evaluate([Sentence(words, gold)], [found])) == (
        "processed 14 tokens with 3 phrases; found: 3 phrases; correct: 2.\n"
        "accuracy:  85.71%; precision:  66.67%; recall:  66.67%; FB1:  66.67\n"
        "              LOC: precision:  50.00%; recall: 100.00%; FB1:  66.67  2\n"
        "              PER: precision: 100.00%; recall:  50.00%; FB1:  66.67  1\n"
    )


def test_the_four_schemas_by_hand():
    """The cases of SemEval 2013: equal, wrong label, wrong place, both wrong, missed, spurious."""
    gold = [Mention("A", ((a, a + 2),)) for a in (0, 10, 20, 30, 40)]
    found = [
        Mention("A", ((0, 2),)),
        Mention("B", ((10, 12),)),
        Mention("A", ((21, 23),)),
        Mention("B", ((29, 31),)),
        Mention("A", ((50, 51),)),
    ]
    results = to_nervaluate(evaluate([Sentence(["w"] * 60, gold)], [found]))["overall"]
    counts = {
        "strict": (1, 3, 0, 1, 1),
        "exact": (2, 2, 0, 1, 1),
        "partial": (2, 0, 2, 1, 1),
        "ent_type": (2, 2, 0, 1, 1),
    }
    names = ("correct", "incorrect", "partial", "missed", "spurious")
    assert {schema: tuple(row[name] for name in names) for schema, row in results.items()} == counts
    assert results["partial"]["precision"] == (2 + 0.5 * 2) / 5


def test_discontinuous_mentions_overlap_where_they_share_tokens():
    gold = Mention("A", ((0, 1), (4, 5)))
    beside, within = Mention("A", ((1, 4),)), Mention("A", ((4, 5),))
    sentence = Sentence(["w"] * 6, [gold])
    assert to_nervaluate(evaluate([sentence], [[beside]]))["overall"]["partial"]["spurious"] == 1
    assert to_nervaluate(evaluate([sentence], [[within]]))["overall"]["partial"]["partial"] == 1


def test_schemas_of_nervaluate_by_hand():
    """Equal borders with another label are wrong by `strict`, right by `exact`; the other way round by `ent_type`."""
    words = [*"abcdef"]
    gold = [Mention("X", ((0, 2),)), Mention("X", ((3, 5),))]
    found = [Mention("Y", ((0, 2),)), Mention("X", ((3, 6),)), Mention("Y", ((2, 3),))]
    overall = to_nervaluate(evaluate([Sentence(words, gold)], [found]))["overall"]
    right = {schema: (own["correct"], own["incorrect"], own["partial"], own["spurious"], own["missed"])
             for schema, own in overall.items()}  # fmt: skip
    assert right == {
        "strict": (0, 2, 0, 1, 0),
        "exact": (1, 1, 0, 1, 0),
        "partial": (1, 0, 1, 1, 0),
        "ent_type": (1, 1, 0, 1, 0),
    }
    assert overall["partial"]["precision"] == 1.5 / 3
    assert overall["partial"]["recall"] == 1.5 / 2
    assert overall["partial"]["f1"] == pytest.approx(2 * 0.5 * 0.75 / 1.25)
