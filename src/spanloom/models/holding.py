"""Which of the training mentions a model can hold, and what has to go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from spanloom.base.errors import EncodingError
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention


class Holder(Protocol):
    """A model, or a trained one, as far as it says what it holds; see ``Model``."""

    @property
    def name(self) -> str: ...
    @property
    def holds(self) -> str: ...
    @property
    def choice(self) -> str | None: ...
    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None: ...
    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]: ...
    def unreachable(self, mentions: Sequence[Mention], sentence: Sentence, number: int) -> list[tuple[int, str]]: ...
    def misread(self, mentions: Sequence[Mention]) -> list[Mention]: ...


@dataclass(frozen=True, slots=True)
class Held:
    """The mentions that a model can hold, and what had to go."""

    mentions: list[list[Mention]]
    lost: list[tuple[int, Mention]]
    """Sentence number and mention: left out of training."""
    misread: list[tuple[int, Mention]]
    """Part of training, but the structure that stands for the sentence is read as other mentions."""

    @property
    def ceiling(self) -> float:
        """The share of the mentions that can come back: no recall on this data can be higher."""
        kept = sum(map(len, self.mentions))
        total = kept + len(self.lost)
        return (kept - len(self.misread)) / total if total else 1.0


def hold(model: Holder, sentences: Sequence[Sentence], keep: str) -> Held:
    """Check every mention against the text and against what the model can hold.

    Parameters
    ----------
    keep
        ``"raise"``, or how to choose among mentions that the model cannot hold together, see ``Model.reduce``. A model
        that is made to choose does so by itself, see ``Model.choice``.
    """
    keep = model.choice or keep
    kept: list[list[Mention]] = []
    lost: list[tuple[int, Mention]] = []
    misread: list[tuple[int, Mention]] = []
    for number, sentence in enumerate(sentences):
        mentions = sorted(set(sentence.mentions))
        for mention in mentions:
            if mention.end > len(sentence):
                raise EncodingError(
                    f"sentence {number}: mention {mention.label} {mention.parts} ends after the last of "
                    f"{len(sentence)} tokens"
                )
        beyond = model.unreachable(mentions, sentence, number) if mentions else []
        if beyond and keep != "raise":
            gone = [mentions[index] for index, _ in beyond]
            lost.extend((number, mention) for mention in gone)
            mentions = [mention for mention in mentions if mention not in gone]
        misfit = beyond[0] if beyond and keep == "raise" else model.misfit(mentions) if mentions else None
        if misfit is not None:
            if keep == "raise":
                index, why = misfit
                bad = mentions[index]
                raise EncodingError(
                    f"sentence {number} ({' '.join(sentence.tokens[:8])} …): mention {index} {bad.label} {bad.parts} "
                    f"{why}. The model {model.name!r} holds {model.holds}; choose a model that holds more "
                    '(multilabel holds every mention), or train on what it can hold: keep="longest", '
                    "--keep longest on the command line."
                )
            mentions, gone = model.reduce(mentions, keep)
            lost.extend((number, mention) for mention in gone)
        if len(mentions) > 1:
            misread.extend((number, mention) for mention in model.misread(mentions))
        kept.append(mentions)
    return Held(kept, lost, misread)
