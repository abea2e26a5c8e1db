"""From tokens to sentences, by rules.

A sentence ends at a blank line, at the end of a line that does not run on, and after ``. ! ? …`` with their closing
quotes and brackets where the next token may begin a sentence. Whether a period ends one is asked of the token before
it: an abbreviation (``Fig.``), an initial (``J. Smith``, but not ``kappa B. The``) or the number of a list item
(``1. Introduction``) does not. Nothing ends within a short pair of brackets. The rules are in the native core
(``native/src/text/sentences.cpp``).
"""

from __future__ import annotations

from collections.abc import Sequence

from spanloom.corpus.mention import Part


def split_sentences(text: str, spans: Sequence[Part]) -> list[Part]:
    """Group the tokens of a text into sentences and return half-open token ranges.

    The ranges are ascending and together hold every token once. The time is linear in the text.

    Parameters
    ----------
    text
        The text.
    spans
        Its tokens, as :func:`~spanloom.corpus.tokenizer.tokenize` returns them: half-open character ranges, none empty.

    Raises
    ------
    IndexError
        If a token is not within the text.

    Examples
    --------
    >>> from spanloom.corpus.tokenizer import tokenize
    >>> text = "Dr. A. Wu grew E. coli. It died."
    >>> split_sentences(text, tokenize(text))
    [(0, 8), (8, 11)]
    """
    from spanloom import _native  # here, so that who only reads tokenised corpora does not wait for it

    return _native.split_sentences(text, spans)
