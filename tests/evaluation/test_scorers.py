"""Scorers of others as oracles: conlleval's rules as ported to Python, and the agreement of brat's annotators."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.test_interchange import LABELS, corpus, tags
from spanloom import Document, Mention, Sentence, write
from spanloom.evaluation import evaluate
from spanloom.evaluation.interchange import to_conlleval

pytestmark = pytest.mark.extras


@pytest.mark.parametrize("seed", range(5))
def test_conlleval_prints_the_same_lines(seed: int) -> None:
    conlleval = pytest.importorskip("conlleval")
    gold, predicted = corpus(seed)
    lines = []
    for sentence, found in zip(gold, predicted, strict=True):
        columns = (sentence.tokens, tags(sentence.mentions, len(sentence)), tags(found, len(sentence)))
        lines += [" ".join(row) for row in zip(*columns, strict=True)] + [""]
    assert to_conlleval(evaluate(gold, predicted)) == conlleval.report(conlleval.evaluate(lines))


def nested(seed: int) -> tuple[list[Sentence], list[Sentence]]:
    """Gold and predicted sentences with mentions that nest, cross and are discontinuous."""
    out: tuple[list[Sentence], list[Sentence]] = ([], [])
    for sentence, found in zip(*corpus(seed), strict=True):
        n = len(sentence)
        more = [Mention("PER", ((0, n),))] + ([Mention("LOC", ((0, 1), (2, n)))] if n > 2 else [])
        out[0].append(Sentence(sentence.tokens, [*sentence.mentions, *more]))
        out[1].append(Sentence(sentence.tokens, [*found, *more[len(found) % 2 :]]))
    return out


@pytest.mark.parametrize("seed", range(3))
def test_agreement_of_annotators_in_brat_is_our_f1(seed: int, tmp_path: Path) -> None:
    """bratiaa reads the files that we write, and counts mentions with equal label and offsets."""
    bratiaa = pytest.importorskip("bratiaa")
    gold, predicted = nested(seed)
    for name, sentences in (("a", gold), ("b", predicted)):
        write([Document(sentences[i : i + 10], id=f"d{i}") for i in (0, 10, 20)], f"brat:{tmp_path / name}")
    (tmp_path / "annotation.conf").write_text(
        "\n".join(["[entities]", *LABELS, "[relations]", "[events]", "[attributes]"])
    )
    agreement = bratiaa.compute_f1_agreement(str(tmp_path))
    ours = evaluate(gold, [s.mentions for s in predicted])
    assert agreement.mean_sd_total()[0] == pytest.approx(ours.micro.f1)
    assert 0.3 < ours.micro.f1 < 0.95
    by_label = dict(zip(agreement.labels, agreement.mean_sd_per_label()[0], strict=True))
    assert by_label == pytest.approx({label: score.f1 for label, score in ours.by_label.items()})
