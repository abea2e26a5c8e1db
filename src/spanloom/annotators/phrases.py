"""Base noun phrases: where a token stands in its phrase, and the phrase's head."""

from __future__ import annotations

from collections.abc import Sequence

from spanloom.annotators.base import Annotator, Columns
from spanloom.annotators.noun_phrases import RUNS
from spanloom.corpus import Sentence

OUTSIDE = "O"


class PhraseColumns(Annotator):
    """Makes ``phrase`` and ``phrase-head`` from a column ``pos`` of Penn tags.

    A phrase is a run of nouns, modifiers, hyphens and slashes that has a noun. ``phrase`` is B, I, E or S; the head is
    the last noun, lower case. Outside of phrases both are ``O``. The head says what a mention is ("… gene"), often from
    farther than a window of words reaches. Features that read these columns get them without naming this annotator.

    Examples
    --------
    >>> sentence = Sentence(["the", "p53", "gene", "binds"], columns={"pos": ["DT", "NN", "NN", "VBZ"]})
    >>> made = PhraseColumns().columns([sentence])[0]
    >>> made["phrase"], made["phrase-head"]
    (['B', 'I', 'E', 'O'], ['gene', 'gene', 'gene', 'O'])
    """

    kind = "phrases"
    requires = ("pos",)
    provides = ("phrase", "phrase-head")

    def columns(self, sentences: Sequence[Sentence]) -> list[Columns]:
        return [_columns(sentence.tokens, sentence.columns["pos"]) for sentence in sentences]


def _columns(tokens: Sequence[str], tags: Sequence[str]) -> Columns:
    place, heads = [OUTSIDE] * len(tokens), [OUTSIDE] * len(tokens)
    for start, end in RUNS.phrases(tokens, tags):
        place[start:end] = ["I"] * (end - start)
        place[start], place[end - 1] = ("B", "E") if end - start > 1 else ("S", "S")
        head = next(i for i in range(end - 1, start - 1, -1) if RUNS.letter(tags[i]) == "N")
        heads[start:end] = [tokens[head].lower()] * (end - start)
    return {"phrase": place, "phrase-head": heads}
