"""What a dependency tree says of the segments that end at a token."""

from __future__ import annotations

from collections.abc import Sequence

from spanloom.annotators.base import Annotator, Columns
from spanloom.corpus import Sentence, valid_spans
from spanloom.corpus.trees import heads_of

LONGEST = 40
"""Longer valid spans are not told."""


class ValidSizes(Annotator):
    """Makes ``valid-sizes``, where features read it: how long the valid spans are that end at a token.

    Sizes stand beside each other with bars between them, for ``values(…)``. With ``last(values(valid-sizes)) & size`` a
    model of all segments sees which of them the tree allows (Jie, Muis & Lu 2017), and learns how much that counts.

    Examples
    --------
    >>> sentence = Sentence(["Lee", "Ann", "Womack", "won"], columns={"head": ["3", "3", "4", "0"]})
    >>> ValidSizes().columns([sentence])[0]["valid-sizes"]
    ['1', '1', '1|2|3', '1|2|3|4']
    """

    kind = "valid-sizes"
    requires = ("head",)
    provides = ("valid-sizes",)

    def columns(self, sentences: Sequence[Sentence]) -> list[Columns]:
        made = []
        for number, sentence in enumerate(sentences):
            sizes: list[list[int]] = [[] for _ in sentence.tokens]
            for start, end in valid_spans(heads_of(sentence, number).tolist(), longest=LONGEST):
                sizes[end - 1].append(end - start)
            made.append({"valid-sizes": ["|".join(map(str, sorted(some))) for some in sizes]})
        return made
