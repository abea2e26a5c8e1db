"""Scorers in Java as oracles: BRATEval, and that of BioCreative's CDR task, which reads BioC.

Neither is in a registry that tests can install from. `SPANLOOM_BRATEVAL` and `SPANLOOM_BC5CDR_EVAL` say where they are,
see docs/integrations.md.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from evaluation.test_interchange import LABELS
from evaluation.test_scorers import nested
from spanloom import Document, Mention, Sentence, write
from spanloom.evaluation import Score, evaluate

pytestmark = pytest.mark.extras


def java(variable: str, program: str, *arguments: str | Path) -> str:
    """Return what a program prints; its class path is in a variable of the environment."""
    if variable not in os.environ:
        pytest.skip(f"{variable} does not say where {program} is")
    command = ["java", "-cp", os.environ[variable], program, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def outcome(score: Score) -> tuple[float, float, float]:
    """True positives, false positives, false negatives."""
    return score.found, score.predicted - score.correct, score.gold - score.found


def documents(sentences: list[Sentence]) -> list[Document]:
    return [Document(sentences[i : i + 10], id=f"d{i}") for i in range(0, len(sentences), 10)]


def brateval(gold: list[Sentence], predicted: list[Sentence], folder: Path) -> dict[str, tuple[int, ...]]:
    """Counts by label, and those of ``all``."""
    for name, sentences in (("gold", gold), ("found", predicted)):
        write(documents(sentences), f"brat:{folder / name}")
    program = "au.com.nicta.csp.brateval.CompareEntities"
    said = java("SPANLOOM_BRATEVAL", program, folder / "found", folder / "gold")
    rows = [line.split("|") for line in said.partition("Summary:\n")[2].splitlines()[1:] if line]
    return {label: tuple(map(int, numbers[:3])) for label, *numbers in rows}


@pytest.mark.parametrize("seed", range(3))
def test_brateval_counts_the_same(seed: int, tmp_path: Path) -> None:
    """Mentions that nest, cross and are discontinuous, by label and overall; spans and types match exactly.

    Discontinuous ones have a label of their own, see the next test.
    """
    gold, predicted = (
        [s.with_mentions([Mention("BROKEN" * m.discontinuous or m.label, m.parts) for m in s.mentions]) for s in one]
        for one in nested(seed)
    )
    ours = evaluate(gold, [s.mentions for s in predicted])
    wanted = {**ours.by_label, "all": ours.micro}
    assert brateval(gold, predicted, tmp_path) == {label: outcome(one) for label, one in wanted.items()}
    assert min(min(outcome(ours.micro)), ours.by_label["BROKEN"].found) > 0


def test_brateval_takes_some_parts_for_the_whole(tmp_path: Path) -> None:
    """It looks for each part of the gold mention among those of the found one, and not the other way round."""
    one, both = Mention("LOC", ((2, 3),)), Mention("LOC", ((0, 1), (2, 3)))
    tokens = ["East", "and", "Berlin"]
    for k, (gold, found, theirs) in enumerate([(one, both, (1, 0, 0)), (both, one, (0, 1, 1))]):
        pair = [Sentence(tokens, [gold])], [Sentence(tokens, [found])]
        assert brateval(*pair, tmp_path / str(k))["all"] == theirs
        assert outcome(evaluate(pair[0], [pair[1][0].mentions]).micro) == (0, 1, 1)


@pytest.mark.parametrize("seed", range(3))
def test_biocreatives_scorer_counts_the_same(seed: int, tmp_path: Path) -> None:
    """Contiguous mentions, nested ones too, in BioC files that we write; each label by itself, and all."""
    pytest.importorskip("bioc")
    pair = []
    for name, sentences in zip(("gold", "found"), nested(seed), strict=True):
        whole = [s.with_mentions([m for m in s.mentions if not m.discontinuous]) for s in sentences]
        write(documents(whole), f"bioc:{tmp_path / name}.xml")
        pair.append(whole)
    ours = evaluate(pair[0], [s.mentions for s in pair[1]])
    for labels, one in [("|".join(LABELS), ours.micro), *ours.by_label.items()]:
        files = tmp_path / "gold.xml", tmp_path / "found.xml"
        said = java("SPANLOOM_BC5CDR_EVAL", "ncbi.bc5cdr_eval.Evaluate", "mention", labels, "bioc", *files)
        numbers = dict(line.split(": ") for line in said.splitlines() if ": " in line and "INFO" not in line)
        assert tuple(int(numbers[key]) for key in ("TP", "FP", "FN")) == outcome(one)
    assert min(outcome(ours.micro)) > 0
