"""Documents as the page has them: pieces of text instead of offsets, which JavaScript would count otherwise."""

from __future__ import annotations

from typing import Any

from spanloom.corpus.document import Document
from spanloom.drawing.line import pieces


def text_view(doc: Document) -> dict[str, Any]:
    """Return the text: for each sentence its first token, words, what stands between them, and what stands before.

    Examples
    --------
    >>> from spanloom.corpus import make_document
    >>> text_view(make_document("It is. (So it is.)"))["sentences"][1]
    {'first': 3, 'before': ' ', 'words': ['(', 'So', 'it', 'is', '.', ')'], 'gaps': ['', ' ', ' ', '', '']}
    """
    sentences: list[dict[str, Any]] = []
    first = at = 0
    for start, sentence in zip(doc.starts, doc.sentences, strict=True):
        words, gaps = pieces(sentence)
        begin = start + (sentence.spans[0][0] if sentence.spans else 0)
        sentences.append({"first": first, "before": doc.text[at:begin], "words": words, "gaps": gaps})
        first += len(sentence)
        at = start + (sentence.spans[-1][1] if sentence.spans else 0)
    return {"sentences": sentences, "after": doc.text[at:], "tokens": first}
