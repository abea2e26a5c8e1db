"""How good trees are: attachment scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spanloom.base.errors import CorpusError
from spanloom.corpus import Sentence


@dataclass(frozen=True, slots=True)
class Attachment:
    """How many words of ``words`` have the right head, and the right head with the right label."""

    words: int
    unlabelled: int
    labelled: int

    @property
    def uas(self) -> float:
        """Unlabelled attachment score."""
        return self.unlabelled / self.words if self.words else 1.0

    @property
    def las(self) -> float:
        """Labelled attachment score; labels count up to the first colon, as is usual for Universal Dependencies."""
        return self.labelled / self.words if self.words else 1.0


def attachment(gold: Sequence[Sentence], parsed: Sequence[Sentence]) -> Attachment:
    """Compare trees word by word.

    Examples
    --------
    >>> gold = [Sentence(["a", "gene"], columns={"head": ["2", "0"], "deprel": ["det", "root"]})]
    >>> found = [Sentence(["a", "gene"], columns={"head": ["2", "0"], "deprel": ["amod", "root"]})]
    >>> score = attachment(gold, found)
    >>> score.uas, score.las
    (1.0, 0.5)
    """
    if len(gold) != len(parsed):
        raise CorpusError(f"{len(gold)} gold sentences cannot be compared with {len(parsed)} parsed ones")
    words = unlabelled = labelled = 0
    for number, (g, p) in enumerate(zip(gold, parsed, strict=True)):
        if len(g) != len(p) or any(name not in s.columns for s in (g, p) for name in ("head", "deprel") if len(s)):
            raise CorpusError(
                f"sentence {number} has no tree with labels on one side (columns 'head' and 'deprel'), or other "
                "tokens; there is nothing to compare"
            )
        words += len(g)
        for i in range(len(g)):
            right = g.columns["head"][i] == p.columns["head"][i]
            unlabelled += right
            labelled += right and _label(g, i) == _label(p, i)
    return Attachment(words, unlabelled, labelled)


def _label(sentence: Sentence, i: int) -> str:
    return sentence.columns["deprel"][i].partition(":")[0]
