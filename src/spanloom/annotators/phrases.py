"""Base noun phrases by part of speech alone: where a token stands in its phrase, and the phrase's head."""

from __future__ import annotations

from collections.abc import Sequence

from spanloom.annotators.base import Annotator
from spanloom.base.errors import CorpusError
from spanloom.corpus import Sentence

NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS", "CD", "FW"})
MODIFIERS = frozenset({"JJ", "JJR", "JJS", "VBN", "VBG", "PRP$", "DT", "HYPH", "SYM"})
JOINTS = frozenset("-/")
OUTSIDE = "O"


class PhraseColumns(Annotator):
    """Makes ``phrase`` and ``phrase-head`` from a column ``pos`` of Penn tags.

    A phrase is a run of nouns, modifiers, hyphens and slashes that has a noun. ``phrase`` is B, I, E or S; the head is
    the last noun, lower case. Outside of phrases both are ``O``. The head says what a mention is ("… gene"), often from
    farther than a window of words reaches. Features that ask for these columns get them without naming this annotator.

    Examples
    --------
    >>> sentence = Sentence(["the", "p53", "gene", "binds"], columns={"pos": ["DT", "NN", "NN", "VBZ"]})
    >>> made = PhraseColumns().columns([sentence])[0]
    >>> made["phrase"], made["phrase-head"]
    (['B', 'I', 'E', 'O'], ['gene', 'gene', 'gene', 'O'])
    """

    kind = "phrases"
    provides = ("phrase", "phrase-head")

    def columns(self, sentences: Sequence[Sentence]) -> list[dict[str, list[str]]]:
        made = []
        for number, sentence in enumerate(sentences):
            if "pos" not in sentence.columns:
                has = ", ".join(["word", *sentence.columns])
                raise CorpusError(
                    f"the columns phrase and phrase-head need a column 'pos', which sentence {number} lacks; it has: "
                    f"{has}. Add the column to the data, make it with a tagger (--annotate), or use features without "
                    "it."
                )
            place, heads = phrases(sentence.tokens, sentence.columns["pos"])
            made.append({"phrase": place, "phrase-head": heads})
        return made


def phrases(tokens: Sequence[str], tags: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return each token's place in its phrase, and the phrase's head."""
    n = len(tokens)
    place, heads = [OUTSIDE] * n, [OUTSIDE] * n
    inside = [tag in NOUNS or tag in MODIFIERS or token in JOINTS for token, tag in zip(tokens, tags, strict=True)]
    start = 0
    while start < n:
        end = start
        while end < n and inside[end]:
            end += 1
        nouns = [i for i in range(start, end) if tags[i] in NOUNS]
        if nouns:
            place[start:end] = ["I"] * (end - start)
            place[start], place[end - 1] = ("B", "E") if end - start > 1 else ("S", "S")
            heads[start:end] = [tokens[nouns[-1]].lower()] * (end - start)
        start = max(end, start + 1)
    return place, heads
